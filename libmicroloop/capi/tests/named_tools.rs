//! Tools that nobody declared: checked by their names, and without end.
#![cfg(feature = "std")]
#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::unwrap_used, reason = "a test speaks by panicking")]

mod support;

use microloop::status::{MICROLOOP_INVALID_ARGUMENT, MICROLOOP_LIMIT, MICROLOOP_NOT_UTF8};
use serde_json::json;
use support::{Packed, Policy, Session};

const BLOCK: i64 = 4;
const POLICY: &str = r#"{"version": 1,
    "loops": {"repeat": {"warn": 3, "block": 4}, "error": {"warn": 2, "block": 3}},
    "roles": {"default": "user", "otherwise": "allow", "grants": {"user": {"deny": "drop_*"}}},
    "tools": [{"match": "*", "effect": "read"},
              {"match": "search_*", "volatile": "nonce"},
              {"match": "limited_*", "limit": {"calls": 2}},
              {"match": "query_*", "rules": [{"id": "no-secrets", "path": "q", "deny": {"equals": "secret"}}]}]}"#;
/// More names than a session tells apart.
const MANY: usize = 300;

fn session() -> Session {
    Policy::new(POLICY).unwrap().session("").unwrap()
}

/// A session that shares one number among all names to come.
fn full() -> Session {
    let session = session();
    for n in 0..MANY {
        run(session, &format!("made_up_{n}"), b"{}");
    }
    session
}

fn run(session: Session, name: &str, arguments: &[u8]) -> Packed {
    let checked = session.check_named(name.as_bytes(), arguments);
    assert!(checked.0 >= 0, "{}", support::last_error());
    if checked.action() < BLOCK {
        assert_eq!(session.record(checked.step(), format!("nothing by {name}").as_bytes()), 0);
    }
    checked
}

#[test]
fn names_without_end_leave_every_place_to_the_tools_that_are_declared() {
    let policy = Policy::new(POLICY).unwrap();
    let session = policy.session("").unwrap();
    for n in 0..5_000 {
        run(session, &format!("made_up_{n}"), b"{}");
    }
    for n in 0..4_096 {
        let tool = policy.tool(&json!({"name": format!("real_{n}")})).unwrap();
        assert_eq!(session.check(tool, b"{}").action(), 0);
    }
    let (status, message) = policy.tool(&json!({"name": "one more"})).unwrap_err();
    assert_eq!(status, MICROLOOP_LIMIT);
    assert!(message.contains("microloop_check_named"), "{message}");
}

#[test]
fn a_made_up_name_that_is_called_again_and_again_is_a_loop_however_many_there_were() {
    for session in [session(), full()] {
        let said: Vec<i64> = (0..4).map(|_| run(session, "made_up", b"{\"q\": 1}").action()).collect();
        assert_eq!(said, [0, 0, 1, BLOCK]);
    }
}

#[test]
fn a_loop_of_made_up_names_in_turn_is_one_too() {
    let session = full();
    let said: Vec<i64> = (0..8).map(|n| run(session, ["made_a", "made_b"][n % 2], b"{}").action()).collect();
    assert_eq!(said[6..], [BLOCK, BLOCK]);
}

#[test]
fn two_made_up_names_with_the_same_arguments_are_two_calls() {
    let session = full();
    let first = session.check_named_in(b"made_a", b"{}", b"call_0", b"turn");
    let second = session.check_named_in(b"made_b", b"{}", b"call_0", b"turn");
    assert_eq!((second.action(), second.step()), (0, first.step() + 1), "neither a retry nor a duplicate of the first");
    assert_eq!(session.check_named_in(b"made_a", b"{}", b"call_0", b"turn"), first, "the same id, the same call");
    let again = session.check_named_in(b"made_b", b"{}", b"call_1", b"turn");
    assert_eq!(session.verdict(again.step())["reason"], "call.duplicate");
}

#[test]
fn the_policy_speaks_of_each_made_up_name() {
    let session = full();
    for (name, reason) in [("drop_all", "role.denied"), ("query_all", "rule.deny")] {
        let verdict = session.verdict(session.check_named(name.as_bytes(), b"{\"q\": \"secret\"}").step());
        assert_eq!((&verdict["tool"], &verdict["reason"]), (&json!(name), &json!(reason)));
    }
    assert_eq!(session.check_named(b"other", b"{\"q\": \"secret\"}").action(), 0);
}

#[test]
fn what_is_no_part_of_one_name_s_calls_counts_for_another() {
    let session = full();
    let mut said = Vec::new();
    for n in 0..4 {
        let arguments = format!("{{\"nonce\": {n}}}");
        said.push((
            run(session, "search_any", arguments.as_bytes()).action(),
            run(session, "other", arguments.as_bytes()).action(),
        ));
    }
    assert_eq!(said[2..], [(1, 0), (BLOCK, 0)]);
}

#[test]
fn errors_in_a_row_are_counted_for_all_names_beyond_those_that_a_session_tells_apart() {
    let session = full();
    let mut said = Vec::new();
    for n in 0..3 {
        let checked = session.check_named(format!("invented_{n}").as_bytes(), b"{}");
        said.push(checked.action());
        if checked.action() < BLOCK {
            session.record_error(checked.step(), b"there is no such tool");
        }
    }
    assert_eq!(said, [0, 1, BLOCK]);
}

#[test]
fn a_limit_by_tool_cannot_be_evaded_by_another_name() {
    let session = full();
    let said: Vec<i64> = (0..3).map(|n| run(session, &format!("limited_{n}"), b"{}").action()).collect();
    assert_eq!(said, [0, 0, BLOCK]);
}

#[test]
fn a_session_that_met_many_names_goes_on_where_it_was_saved() {
    let (here, there) = (Policy::new(POLICY).unwrap(), Policy::new(POLICY).unwrap());
    let session = here.session("").unwrap();
    session.time(1_000);
    run(session, &"long".repeat(100), b"{}");
    let tool = here.tool(&json!({"name": "declared"})).unwrap();
    session.check(tool, b"{}");
    let noted = session.check_named(b"query_long_ago", b"{\"q\": \"secret\"}");
    for n in 0..MANY {
        run(session, &format!("made_up_{n}"), b"{}");
    }
    let shared = session.check_named(b"drop_all", b"{}");
    for _ in 0..3 {
        run(session, "made_up", b"{}");
    }
    let restored = there.load(&session.save().unwrap()).unwrap();
    assert_eq!(restored.state(), session.state());
    for step in [noted.step(), shared.step()] {
        assert_eq!(restored.verdict(step), session.verdict(step));
    }
    for name in ["made_up_0", "made_up_299", "made_up", "new"] {
        assert_eq!(run(restored, name, b"{}"), run(session, name, b"{}"), "{name}");
    }
    assert_eq!(there.tool(&json!({"name": "real"})), Ok(1), "only what was declared was declared again");
}

#[test]
fn a_name_must_be_text() {
    let session = session();
    for (name, status) in [(&b""[..], MICROLOOP_INVALID_ARGUMENT), (b"\xff", MICROLOOP_NOT_UTF8)] {
        assert_eq!(session.check_named(name, b"{}").0, i64::from(status));
        assert!(support::last_error().contains("the tool's name"), "{}", support::last_error());
    }
}
