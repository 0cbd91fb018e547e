//! The corpus of the fuzz targets, and what they have found, through the same functions on a stable compiler.
#![cfg(feature = "std")]
#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::unwrap_used, reason = "a test speaks by panicking")]

#[path = "../../fuzz/driver.rs"]
mod driver;

use std::{fs, path::Path};

fn replay(target: &str, run: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus").join(target);
    let mut count = 0;
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        println!("{}", path.display());
        run(&fs::read(&path).unwrap());
        count += 1;
    }
    assert!(count >= 10, "only {count} inputs in {}", folder.display());
}

#[test]
fn sequences_of_calls() {
    replay("check", driver::check);
}

#[test]
fn saved_sessions() {
    replay("snapshot", driver::snapshot);
}

#[test]
fn policy_documents() {
    replay("policy", driver::policy);
}
