//! How long the native part of a check takes: `cargo bench -p microloop-capi`, with `-- --json` for `make bench`, with
//! `-- "Rust: check"` for the rows alone that have this in their name.
//!
//! Rows are sampled in turn, in batches; a sample is the time of one batch divided by its calls. Every row proves, after
//! every batch, that it did what its name says.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a benchmark whose self-check fails speaks by panicking"
)]

mod c_abi;
mod rust_api;
mod table;
mod workload;

use table::Row;

const ROUNDS: usize = 60;
/// Batches before the first sample, so that caches and branch predictors are warm.
const WARM_UP: usize = 20;

fn main() {
    let mut rows: Vec<Row> = rust_api::rows();
    rows.extend(c_abi::rows());
    let wanted: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    rows.retain(|row| wanted.iter().all(|part| row.name.contains(part.as_str())));
    for round in 0..WARM_UP + ROUNDS {
        for row in &mut rows {
            row.sample(round >= WARM_UP);
        }
    }
    if std::env::args().any(|argument| argument == "--json") {
        println!("{}", table::json(&rows));
    } else {
        println!("{}", table::text(&rows));
    }
}
