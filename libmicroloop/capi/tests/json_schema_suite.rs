//! The official JSON-Schema-Test-Suite through the C ABI: each schema is declared with a tool, each instance is a call's
//! arguments. Required tests of all five drafts. Deviations are listed in `json_schema_deviations.tsv` with their cause;
//! any other fails, and so does a listed one that is none any more.
//!
//! The suite is not in this repository: `../shared/data/JSON-Schema-Test-Suite.tar.xz`, or under `MICROLOOP_DATA`.
#![cfg(feature = "std")]
#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::unwrap_used, reason = "a test speaks by panicking")]

mod support;

use std::{
    collections::BTreeMap,
    env, fs, io,
    io::Write,
    path::{Path, PathBuf},
    process::Command,
};

use microloop::status::MICROLOOP_INVALID_SCHEMA;
use serde_json::{Value, json};
use support::Policy;

const ARCHIVE: &str = "JSON-Schema-Test-Suite.tar.xz";

const DRAFTS: [(&str, &str); 5] = [
    ("draft4", "http://json-schema.org/draft-04/schema#"),
    ("draft6", "http://json-schema.org/draft-06/schema#"),
    ("draft7", "http://json-schema.org/draft-07/schema#"),
    ("draft2019-09", "https://json-schema.org/draft/2019-09/schema"),
    ("draft2020-12", "https://json-schema.org/draft/2020-12/schema"),
];

/// What differs from the suite: `draft<TAB>file<TAB>group<TAB>test`, and how.
type Deviations = BTreeMap<String, String>;

fn archive() -> PathBuf {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    env::var_os("MICROLOOP_DATA").map_or(beside, PathBuf::from).join(ARCHIVE)
}

fn unpack(archive: &Path) -> PathBuf {
    let into = Path::new(env!("CARGO_TARGET_TMPDIR")).join("json-schema-test-suite");
    fs::create_dir_all(&into).unwrap();
    let status = Command::new("tar").arg("-xJf").arg(archive).arg("-C").arg(&into).status();
    assert!(
        status.is_ok_and(|status| status.success()),
        "tar -xJf {} failed: is tar with xz there?",
        archive.display()
    );
    into.join("JSON-Schema-Test-Suite/tests")
}

fn listed() -> Deviations {
    let lines = include_str!("json_schema_deviations.tsv").lines();
    let entries = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    entries
        .map(|line| {
            let (test, cause) = line.rsplit_once('\t').expect("a deviation has its cause");
            (test.into(), cause.into())
        })
        .collect()
}

/// The suite leaves out `$schema` in the older drafts, where the directory says it.
fn of_draft(schema: &Value, draft: &str) -> Value {
    let mut schema = schema.clone();
    if let Value::Object(members) = &mut schema {
        members.entry("$schema").or_insert_with(|| draft.into());
    }
    schema
}

fn judge(policy: Policy, tool: u32, instance: &Value) -> Result<bool, String> {
    let session = policy.session("").unwrap();
    let checked = session.check(tool, instance.to_string().as_bytes());
    let verdict = if checked.action() == 0 { Ok(true) } else { refused(&session.verdict(checked.step())) };
    session.free().unwrap();
    verdict
}

fn refused(verdict: &Value) -> Result<bool, String> {
    if verdict["reason"] == "args.schema" { Ok(false) } else { Err(verdict["feedback"].to_string()) }
}

fn run_group(place: &str, draft: &str, group: &Value, deviations: &mut Deviations) -> usize {
    let policy = Policy::new(r#"{"version": 1}"#).unwrap();
    let schema = of_draft(&group["schema"], draft);
    let place = format!("{place}\t{}", group["description"].as_str().unwrap());
    let tests = group["tests"].as_array().unwrap();
    match policy.tool(&json!({"name": "tool", "schema": schema})) {
        Ok(tool) => {
            for test in tests {
                let seen = judge(policy, tool, &test["data"]);
                if seen != Ok(test["valid"] == true) {
                    let name = format!("{place}\t{}", test["description"].as_str().unwrap());
                    deviations.insert(name, format!("{seen:?}"));
                }
            }
        }
        Err((status, message)) => {
            assert_eq!(status, MICROLOOP_INVALID_SCHEMA, "{place}: {message}");
            deviations.insert(format!("{place}\t*"), message);
        }
    }
    policy.free().unwrap();
    tests.len()
}

fn run_draft(directory: &Path, draft: &str, deviations: &mut Deviations) -> usize {
    let name = directory.file_name().unwrap().to_str().unwrap();
    let mut files: Vec<PathBuf> = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
        .iter()
        .filter(|file| file.extension().is_some_and(|extension| extension == "json"))
        .map(|file| {
            let groups: Vec<Value> = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
            let place = format!("{name}\t{}", file.file_name().unwrap().to_str().unwrap());
            groups.iter().map(|group| run_group(&place, draft, group, deviations)).sum::<usize>()
        })
        .sum()
}

#[test]
fn required_tests_of_all_drafts_pass_or_are_listed() {
    let archive = archive();
    if !archive.exists() {
        // Not by a macro, whose output the test runner keeps to itself when a test passes.
        let line = format!("SKIPPED: {ARCHIVE} is not there; set MICROLOOP_DATA to the folder that has it\n");
        io::stderr().write_all(line.as_bytes()).unwrap();
        return;
    }
    let tests = unpack(&archive);
    let mut seen = Deviations::new();
    for (name, draft) in DRAFTS {
        let before = seen.len();
        let count = run_draft(&tests.join(name), draft, &mut seen);
        println!("{name}: {count} tests, {} deviations", seen.len() - before);
        assert!(count > 400, "{name}: only {count} tests were found");
    }
    let listed = listed();
    let new: Vec<_> = seen.iter().filter(|(test, _)| !listed.contains_key(*test)).collect();
    let gone: Vec<_> = listed.keys().filter(|test| !seen.contains_key(*test)).collect();
    for (test, how) in &new {
        println!("{test}\t{how}");
    }
    assert!(new.is_empty(), "{} tests deviate that are not listed", new.len());
    assert!(gone.is_empty(), "these are listed and do not deviate: {gone:#?}");
}
