//! Saved sessions: see driver.rs.
#![no_main]

#[path = "../driver.rs"]
mod driver;

libfuzzer_sys::fuzz_target!(|data: &[u8]| driver::snapshot(data));
