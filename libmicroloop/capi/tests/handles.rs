//! Handles from a Rust host's side: made by many threads at once, freed, used afterwards.
#![cfg(feature = "std")]
#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::unwrap_used, reason = "a test speaks by panicking")]

mod support;

use std::{collections::BTreeSet, thread};

use microloop::status::MICROLOOP_STALE_HANDLE;
use serde_json::json;
use support::Policy;

const POLICY: &str = r#"{"version": 1, "loops": {"repeat": {"warn": 3, "block": 5}}}"#;

#[test]
fn handles_made_at_the_same_time_are_all_different() {
    let policy = Policy::new(POLICY).unwrap();
    let make = || (0..500).map(|_| policy.session("").unwrap().0).collect::<Vec<_>>();
    let handles: Vec<u64> = thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(make)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(handles.iter().collect::<BTreeSet<_>>().len(), 2_000);
    for handle in handles {
        support::Session(handle).free().unwrap();
    }
    policy.free().unwrap();
}

#[test]
fn a_handle_is_stale_for_good_however_often_its_slot_is_used_again() {
    let policy = Policy::new(POLICY).unwrap();
    let tool = policy.tool(&json!({"name": "search"})).unwrap();
    let old = policy.session("").unwrap();
    old.free().unwrap();
    for _ in 0..1_000 {
        let new = policy.session("").unwrap();
        assert_eq!(old.check(tool, b"{}").0, i64::from(MICROLOOP_STALE_HANDLE));
        assert_eq!(new.check(tool, b"{}").action(), 0);
        new.free().unwrap();
    }
    assert_eq!(old.free().unwrap_err().0, MICROLOOP_STALE_HANDLE);
    policy.free().unwrap();
}

#[test]
fn a_child_outlives_its_parent_and_is_charged_to_it_until_then() {
    let policy = Policy::new(r#"{"version": 1, "budgets": {"calls": 3}}"#).unwrap();
    let tool = policy.tool(&json!({"name": "search"})).unwrap();
    let parent = policy.session("").unwrap();
    let child = policy.session(&format!("{{\"parent\": {}}}", parent.0)).unwrap();
    assert_eq!(child.check(tool, b"{\"n\": 1}").action(), 0);
    assert_eq!(parent.check(tool, b"{\"n\": 2}").action(), 0);
    assert_eq!(parent.state()["calls"], 2);
    assert_eq!(child.state()["calls"], 1);
    parent.free().unwrap();
    assert_eq!(child.check(tool, b"{\"n\": 3}").action(), 0);
    let over = child.check(tool, b"{\"n\": 4}");
    assert_eq!(child.verdict(over.step())["reason"], "budget.calls");
    child.free().unwrap();
    policy.free().unwrap();
}

#[test]
fn what_a_child_spends_is_spent_by_its_parent_too() {
    let policy = Policy::new(r#"{"version": 1, "budgets": {"tokens": 1000, "usd": 0.25}}"#).unwrap();
    let tool = policy.tool(&json!({"name": "search"})).unwrap();
    let parent = policy.session("").unwrap();
    let child = policy.session(&format!("{{\"parent\": {}}}", parent.0)).unwrap();
    assert_eq!(parent.spend(10, 50_000_000), support::Packed(0));
    let halt = child.spend(20, 200_000_000);
    assert_eq!(child.state()["usd"], 0.2);
    assert_eq!((&parent.state()["tokens"], &parent.state()["usd"]), (&json!(30), &json!(0.25)));
    let verdict = child.verdict(halt.step());
    assert_eq!(
        (&verdict["reason"], &verdict["limit"], &verdict["seen"]),
        (&json!("budget.usd"), &json!(0.25), &json!(0.25))
    );
    assert_eq!(parent.check(tool, b"{}").action(), 5);
    child.free().unwrap();
    parent.free().unwrap();
    policy.free().unwrap();
}

#[test]
fn a_tool_declared_while_sessions_run_is_known_to_them() {
    let policy = Policy::new(POLICY).unwrap();
    let session = policy.session("").unwrap();
    for n in 0..100 {
        let tool = policy.tool(&json!({"name": format!("tool_{n}")})).unwrap();
        assert_eq!(session.check(tool, b"{}").action(), 0);
    }
    session.free().unwrap();
    policy.free().unwrap();
}

#[test]
fn ten_thousand_runs_are_observed_at_once_and_none_sees_another() {
    let policy = Policy::new(&POLICY.replace("{\"version\": 1", "{\"version\": 1, \"mode\": \"observe\"")).unwrap();
    let tool = policy.tool(&json!({"name": "run"})).unwrap();
    let sessions: Vec<_> = (0..10_000).map(|_| policy.session("").unwrap()).collect();
    for round in 1..=5 {
        for session in sessions.iter().step_by(2) {
            assert_eq!(session.observe(tool, b"\"ls\"", b"a.txt").step(), round);
        }
    }
    let statuses = |session: &support::Session| session.progress(0)["status"].clone();
    assert!(sessions.iter().step_by(2).all(|session| statuses(session) == "stalled"));
    assert!(sessions.iter().skip(1).step_by(2).all(|session| statuses(session) == "healthy"));
    for session in sessions {
        session.free().unwrap();
    }
    policy.free().unwrap();
}
