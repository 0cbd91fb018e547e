//! Threads: one session stays correct under many, and sessions do not wait for each other.
#![cfg(feature = "std")]
#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::unwrap_used, reason = "a test speaks by panicking")]

mod support;

use std::{
    sync::Barrier,
    thread,
    time::{Duration, Instant},
};

use serde_json::json;
use support::{Policy, Session};

const POLICY: &str = r#"{"version": 1, "loops": {"repeat": {"warn": 3, "block": 5}}}"#;

#[test]
fn steps_of_one_session_are_given_out_once_each() {
    let policy = Policy::new(POLICY).unwrap();
    let tool = policy.tool(&json!({"name": "search"})).unwrap();
    let session = policy.session("").unwrap();
    let work = |thread: u64| {
        (0..500_u64)
            .map(|n| {
                let checked = session.check(tool, format!("{{\"n\": {}}}", thread * 1_000 + n).as_bytes());
                assert_eq!(checked.action(), 0);
                assert_eq!(session.record(checked.step(), format!("{thread}.{n}").as_bytes()), 0);
                checked.step()
            })
            .collect::<Vec<_>>()
    };
    let mut steps: Vec<u64> = thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|thread| scope.spawn(move || work(thread))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    steps.sort_unstable();
    assert_eq!(steps, (1..=4_000).collect::<Vec<_>>());
    session.free().unwrap();
    policy.free().unwrap();
}

#[test]
fn a_loop_shared_by_threads_is_still_blocked() {
    let policy = Policy::new(POLICY).unwrap();
    let tool = policy.tool(&json!({"name": "search"})).unwrap();
    let session = policy.session("").unwrap();
    let first = session.check(tool, b"{\"q\": 1}");
    assert_eq!(session.record(first.step(), b"nothing"), 0);
    let barrier = Barrier::new(8);
    let let_through: usize = thread::scope(|scope| {
        let call = || {
            barrier.wait();
            let checked = session.check(tool, b"{\"q\": 1}");
            usize::from(checked.action() < 4)
        };
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(call)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(let_through, 3, "the fifth identical call and all after it are blocked");
    session.free().unwrap();
    policy.free().unwrap();
}

/// A thread that sits inside one session for a long time (megabytes of arguments to digest) holds nobody else up.
#[test]
fn a_slow_call_in_one_session_does_not_hold_up_another() {
    let policy = Policy::new(POLICY).unwrap();
    let tool = policy.tool(&json!({"name": "search"})).unwrap();
    let (slow, quick) = (policy.session("").unwrap(), policy.session("").unwrap());
    let large = format!("{{\"text\": \"{}\"}}", "x".repeat(1 << 20));
    let slowest = time(slow, tool, large.as_bytes());
    thread::scope(|scope| {
        let busy = scope.spawn(|| (0..10).map(|_| time(slow, tool, large.as_bytes())).max());
        let mut waits = Vec::new();
        while !busy.is_finished() {
            waits.push(time(quick, tool, b"{\"n\": 1}"));
        }
        waits.sort_unstable();
        let median = waits.get(waits.len() / 2).copied().unwrap_or_default();
        assert!(median < slowest / 4, "a quick call took {median:?} beside one of {slowest:?}");
    });
    slow.free().unwrap();
    quick.free().unwrap();
    policy.free().unwrap();
}

fn time(session: Session, tool: u32, arguments: &[u8]) -> Duration {
    let start = Instant::now();
    assert!(session.check(tool, arguments).0 >= 0);
    start.elapsed()
}
