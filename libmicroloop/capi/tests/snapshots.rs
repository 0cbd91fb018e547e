//! Sessions that are saved in one process and go on in another, through the C ABI.
#![cfg(feature = "std")]
#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::unwrap_used, reason = "a test speaks by panicking")]

mod support;

use microloop::status::{MICROLOOP_INVALID_ARGUMENT, MICROLOOP_INVALID_SNAPSHOT, MICROLOOP_OTHER_POLICY};
use serde_json::{Value, json};
use support::{Policy, Session};

const POLICY: &str = r#"{"version": 1, "loops": {"repeat": {"warn": 3, "block": 4}},
    "tools": [{"match": "limited", "limit": {"calls": 2}}]}"#;

fn declared(policy: Policy, names: &[&str]) -> Vec<u32> {
    names.iter().map(|name| policy.tool(&json!({"name": name})).unwrap()).collect()
}

fn played(policy: Policy) -> Session {
    let session = policy.session("").unwrap();
    session.time(1_000);
    let tools = declared(policy, &["search", "limited", "never called"]);
    for _ in 0..2 {
        for tool in &tools[..2] {
            let step = session.check(*tool, b"{\"q\": 1}").step();
            assert_eq!(session.record(step, b"nothing"), 0);
        }
    }
    session
}

/// How a session goes on: each action, and the verdict on it.
fn goes_on(session: Session, tools: &[u32]) -> Vec<(i64, Value)> {
    let mut said = Vec::new();
    for _ in 0..3 {
        for tool in tools {
            let packed = session.check(*tool, b"{\"q\": 1}");
            said.push((packed.action(), if packed.noted() { session.verdict(packed.step()) } else { Value::Null }));
            if packed.action() < 4 {
                assert_eq!(session.record(packed.step(), b"nothing"), 0);
            }
        }
    }
    said
}

#[test]
fn a_session_goes_on_where_the_tools_are_declared_in_another_order() {
    let (here, there) = (Policy::new(POLICY).unwrap(), Policy::new(POLICY).unwrap());
    let session = played(here);
    declared(there, &["first of all", "limited"]);
    let restored = there.load(&session.save().unwrap()).unwrap();
    assert_eq!(restored.state(), session.state());
    let names = ["search", "limited"];
    assert_eq!(goes_on(restored, &declared(there, &names)), goes_on(session, &declared(here, &names)));
}

#[test]
fn only_tools_that_were_called_are_declared_by_a_restored_session() {
    let there = Policy::new(POLICY).unwrap();
    there.load(&played(Policy::new(POLICY).unwrap()).save().unwrap()).unwrap();
    assert_eq!(declared(there, &["search", "limited", "never called"]), [0, 1, 2]);
}

#[test]
fn a_step_that_is_under_way_is_recorded_by_the_process_that_restores_it() {
    let (here, there) = (Policy::new(POLICY).unwrap(), Policy::new(POLICY).unwrap());
    let session = here.session("").unwrap();
    let step = session.check(declared(here, &["search"])[0], b"{}").step();
    let restored = there.load(&session.save().unwrap()).unwrap();
    assert_eq!(restored.record(step, b"found"), 0);
}

#[test]
fn a_verdict_can_be_asked_for_after_the_session_was_restored() {
    let policy = Policy::new(POLICY).unwrap();
    let session = played(policy);
    let packed = session.check(declared(policy, &["limited"])[0], b"{\"q\": 1}");
    let restored = policy.load(&session.save().unwrap()).unwrap();
    assert_eq!(restored.verdict(packed.step()), session.verdict(packed.step()));
}

#[test]
fn the_same_policy_in_another_spelling_is_the_same_policy() {
    let saved = played(Policy::new(POLICY).unwrap()).save().unwrap();
    let spelled = serde_json::to_string_pretty(&serde_json::from_str::<Value>(POLICY).unwrap()).unwrap();
    assert!(Policy::new(&spelled).unwrap().load(&saved).is_ok());
}

#[test]
fn another_policy_is_refused() {
    let saved = played(Policy::new(POLICY).unwrap()).save().unwrap();
    let other = Policy::new(r#"{"version": 1, "loops": {"repeat": {"warn": 3, "block": 5}}}"#).unwrap();
    let (status, message) = other.load(&saved).unwrap_err();
    assert_eq!(status, MICROLOOP_OTHER_POLICY);
    assert!(message.contains("under another policy"), "{message}");
}

#[test]
fn the_session_of_a_sub_agent_is_not_saved_but_its_parent_is() {
    let policy = Policy::new(POLICY).unwrap();
    let parent = policy.session("").unwrap();
    let child = policy.session(&format!("{{\"parent\": {}}}", parent.0)).unwrap();
    let (status, message) = child.save().unwrap_err();
    assert_eq!(status, MICROLOOP_INVALID_ARGUMENT);
    assert!(message.contains("a session with a parent cannot be saved"), "{message}");
    assert!(parent.save().is_ok());
}

#[test]
fn damaged_bytes_are_refused_whatever_is_wrong_with_them() {
    let policy = Policy::new(POLICY).unwrap();
    let saved = played(policy).save().unwrap();
    let refused = |bytes: &[u8]| assert_eq!(policy.load(bytes).unwrap_err().0, MICROLOOP_INVALID_SNAPSHOT);
    (0..saved.len()).for_each(|len| refused(&saved[..len]));
    refused(&[&saved[..], b"\0"].concat());
    for at in 0..saved.len() {
        let mut flipped = saved.clone();
        flipped[at] ^= 1;
        refused(&flipped);
    }
}
