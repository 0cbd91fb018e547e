//! The traces in `tests/traces` at the root of the repository, through the Rust API. `tests/traces/README.md` says what
//! their keys mean.

#![expect(clippy::expect_used, clippy::indexing_slicing, clippy::panic, reason = "a test speaks by panicking")]

#[path = "traces/expectations.rs"]
mod expectations;
#[path = "traces/run.rs"]
mod run;
#[path = "traces/shape.rs"]
mod shape;

use std::{fs, path::PathBuf};

use run::Process;
use serde_json::Value;

fn root() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "..", "..", "tests"].iter().collect()
}

fn read(path: &PathBuf) -> Value {
    let text = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_slice(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn files() -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(root().join("traces"))
        .expect("the folder of the traces")
        .map(|entry| entry.expect("a file of traces").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    files.sort();
    files
}

/// The resolved document that the Python loader wrote for the policy of a trace.
fn policy(trace: &Value) -> Vec<u8> {
    let policy = &trace["policy"];
    let name = policy.as_str().or_else(|| policy["name"].as_str()).expect("a policy has a name");
    let path = root().join("policies").join(format!("{name}.json"));
    fs::read(&path)
        .unwrap_or_else(|error| panic!("{}: {error}; python tests/traces/resolve_policies.py", path.display()))
}

fn traces() -> Vec<(String, Value)> {
    let mut traces = Vec::new();
    for path in files() {
        for trace in read(&path).as_array().expect("a list of traces") {
            let place = format!("{}: {}", path.file_stem().unwrap_or_default().display(), trace["name"]);
            traces.push((place, trace.clone()));
        }
    }
    assert!(traces.len() > 100, "only {} traces were found", traces.len());
    traces
}

#[test]
fn every_trace_gets_the_verdicts_that_it_expects() {
    let mut wrong = Vec::new();
    for (place, trace) in traces() {
        let problems = expectations::problems(&trace, &run::play(&trace, &policy(&trace), Process::Same));
        wrong.extend(problems.iter().map(|problem| format!("{place}: {problem}")));
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn a_session_that_is_saved_and_restored_at_every_moment_says_the_same() {
    for (place, trace) in traces() {
        let policy = policy(&trace);
        let (stays, moves) = (run::play(&trace, &policy, Process::Same), run::play(&trace, &policy, Process::Another));
        assert_eq!(stays, moves, "{place}");
    }
}
