//! libmicroloop: the C ABI of microloop. `include/microloop.h` is made from this crate and is the contract.
//!
//! - Handles are numbers, never pointers: a stale, freed, foreign or zero handle is reported (`registry`, `handle`).
//! - A function returns a status or a packed verdict; data goes out by pointer; text is fetched into the host's buffer.
//! - No panic and no bad pointer check is left to chance (`boundary`). This is the only crate with unsafe code.
//! - Sessions in parallel share nothing but their policy, which a check of a tool that they have met does not lock (`session`).
//!
//! Without the feature `std` the crate is `no_std`: the host supplies memory and time (`host`), and JSON Schema is refused.
#![cfg_attr(not(any(feature = "std", test)), no_std)]

extern crate alloc;

// In the order of the header.
pub mod version;

pub mod status;

pub mod last_error;

pub mod policy;

pub mod tool;

pub mod session;

pub mod snapshot;

pub mod check;

pub mod progress;

pub mod canonical;

pub mod pattern;

pub mod noop;

mod boundary;
mod clock;
mod document;
mod handle;
// The tests have std below them, whatever the library is built with.
#[cfg(not(any(feature = "std", test)))]
mod host;
mod lock;
mod met_tools;
mod named_tools;
#[cfg(feature = "std")]
mod panic;
mod registry;
#[cfg(feature = "std")]
mod schema;
#[cfg(not(feature = "std"))]
#[path = "no_schema.rs"]
mod schema;
