//! The decisions of microloop: is this call a loop, does it keep the rules, is there budget left for it?
//!
//! `no_std` with `alloc`, no unsafe code, no panics: a guard that crashes is no guard. [`engine::Engine`] is the way of a call;
//! everything else is what it asks on that way.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod budget;
pub mod canonical;
pub mod digest;
pub mod engine;
pub mod json;
pub mod outcome;
pub mod pattern;
pub mod policy;
pub mod progress;
pub mod roles;
pub mod rules;
pub mod verdict;

mod amount;
mod bounded;
mod call;
mod detect;
mod feedback;
mod ids;
mod memory;
mod noted;
mod pending;
mod recall;
mod tool_state;
mod window;
