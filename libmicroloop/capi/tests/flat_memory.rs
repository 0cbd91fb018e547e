//! A session is fixed memory, and a check costs the same at step 1,000,000 as at step 1,000.
#![cfg(feature = "std")]
#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::unwrap_used, reason = "a test speaks by panicking")]

mod support;

use std::{
    alloc::{GlobalAlloc, Layout, System},
    ops::Range,
    sync::{
        Mutex,
        atomic::{AtomicIsize, Ordering},
    },
    time::{Duration, Instant},
};

use serde_json::json;
use support::{Policy, Session};

struct Counting;

static LIVING: AtomicIsize = AtomicIsize::new(0);
/// What is alive is counted for the whole process.
static ALONE: Mutex<()> = Mutex::new(());

fn note(bytes: usize, sign: isize) {
    LIVING.fetch_add(isize::try_from(bytes).unwrap_or(0) * sign, Ordering::Relaxed);
}

// SAFETY: every call is passed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size(), 1);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        note(layout.size(), -1);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const CALLS: u64 = 1_000_000;
const WARM: u64 = 100_000;
/// Texts in the session's rings differ in length; a leak of one byte a call would be 50 times as much.
const SLACK: isize = 16 * 1024;

const POLICY: &str = r#"{"version": 1,
    "loops": {"scope": "turn", "repeat": {"warn": 3, "block": 5}, "cycle": {"warn": 3, "block": 5},
              "error": {"warn": 3, "block": 6}, "near": {"warn": 5}, "stall": {"warn": 8}, "text": {"warn": 3},
              "invalid": {"block": 3}, "retry": {"warn": 4, "block": 6}, "recur": {"warn": 50}, "learned": ["*_id", "ts"]},
    "budgets": {"per_minute": 10000, "calls": 10000000},
    "tools": [{"match": "write_*", "effect": "write"},
              {"match": "read_*", "effect": "read", "rules": [{"id": "r", "path": "q", "deny": {"regex": "drop table"}}]}]}"#;

/// Arguments and outcomes of every kind that leaves something behind: new ones, repeated ones, cycles, errors, malformed
/// ones, new argument names, new tool names, and calls that never come back.
fn call(session: Session, tools: &[u32], n: u64) {
    session.time(n * 20);
    let arguments = match n % 10 {
        0..=3 => format!("{{\"q\": \"query number {n} of many\", \"ts\": {n}}}"),
        4 => format!("{{\"q\": {}}}", n % 7),
        5 => format!("{{\"key_{n}\": 1}}"),
        6 => "{\"q\": \"again\"}".into(),
        7 => format!("{{\"request_id\": \"{n}\", \"q\": \"same\"}}"),
        8 => "{\"q\": ".into(),
        _ => format!("{{\"list\": [{n}, {n}], \"deep\": {{\"a\": {{\"b\": {n}}}}}}}"),
    };
    let checked = if n.is_multiple_of(17) {
        session.check_named(format!("made_up_{n:07}").as_bytes(), arguments.as_bytes())
    } else {
        session.check(*tools.get(usize::try_from(n).unwrap() % tools.len()).unwrap(), arguments.as_bytes())
    };
    assert!(checked.0 >= 0, "{}", support::last_error());
    if checked.action() < 4 && !n.is_multiple_of(13) {
        let outcome = match n % 3 {
            0 => format!("row {n}"),
            1 => "Error: not found".into(),
            _ => "[]".into(),
        };
        session.record(checked.step(), outcome.as_bytes());
    }
    if n % 1_000 == 999 {
        session.turn(u32::try_from(n / 1_000 % 2).unwrap(), &format!("turn {n}"));
    }
}

fn quickest(session: Session, tool: u32, from: u64) -> Duration {
    let batch = |batch: u64| {
        let arguments: Vec<String> = (0..100).map(|n| format!("{{\"probe\": {}}}", from + batch * 100 + n)).collect();
        let start = Instant::now();
        for text in &arguments {
            assert!(session.check(tool, text.as_bytes()).0 >= 0);
        }
        start.elapsed()
    };
    (0..20).map(batch).min().unwrap()
}

/// Makes the calls and gives the most memory that was in use after any thousand of them.
fn peak(session: Session, tools: &[u32], calls: Range<u64>) -> isize {
    let mut most = 0;
    for n in calls {
        call(session, tools, n);
        if n % 1_000 == 0 {
            most = most.max(LIVING.load(Ordering::Relaxed));
        }
    }
    most
}

/// Steps of every kind that leaves something behind for the monitor.
fn step(session: Session, tools: &[u32], n: u64) {
    let tool = *tools.get(usize::try_from(n).unwrap() % tools.len()).unwrap();
    let action = if n.is_multiple_of(4) { format!("\"make test {}\"", n % 7) } else { format!("\"cat {n}\"") };
    let outcome = match n % 5 {
        0 => format!("{} failed, {} passed in 0.10s", n % 11, n % 13),
        1 => format!("text number {n}"),
        2 => "Error: not found".into(),
        3 => "x".repeat(usize::try_from(n % 4_096).unwrap()),
        _ => "the same again".into(),
    };
    assert!(session.observe(tool, action.as_bytes(), outcome.as_bytes()).0 >= 0, "{}", support::last_error());
}

#[test]
fn a_million_observed_steps_leave_nothing_behind() {
    let _alone = ALONE.lock();
    let policy = Policy::new(&POLICY.replace("{\"version\": 1,", "{\"version\": 1, \"mode\": \"observe\",")).unwrap();
    let tools: Vec<u32> = (0..4).map(|n| policy.tool(&json!({"name": format!("tool_{n}")})).unwrap()).collect();
    let session = policy.session("").unwrap();
    let watch = |steps: Range<u64>| {
        let start = Instant::now();
        let mut most = 0;
        for n in steps {
            step(session, &tools, n);
            most = if n % 1_000 == 0 { most.max(LIVING.load(Ordering::Relaxed)) } else { most };
        }
        (most, start.elapsed())
    };
    watch(0..WARM);
    let (first, early) = watch(WARM..2 * WARM);
    watch(2 * WARM..CALLS - WARM);
    let (last, late) = watch(CALLS - WARM..CALLS);
    let whole = freed(session);
    println!(
        "peaks: {first} bytes early, {last} late; {WARM} steps: {early:?} early, {late:?} late; the session {whole}"
    );
    assert!(whole < 1 << 20, "a session holds {whole} bytes");
    assert!(last < first + SLACK, "memory grew from {first} to {last} bytes");
    assert!(late < early * 3, "{WARM} steps took {early:?} early and {late:?} late");
    policy.free().unwrap();
}

#[test]
fn a_million_calls_leave_nothing_behind() {
    let _alone = ALONE.lock();
    let policy = Policy::new(POLICY).unwrap();
    let names = ["read_page", "write_file", "search", "read_row"];
    let tools: Vec<u32> = names.iter().map(|name| policy.tool(&json!({"name": name})).unwrap()).collect();
    let session = policy.session("").unwrap();
    let probe = *tools.last().unwrap();

    peak(session, &tools, 0..1_000);
    let early = quickest(session, probe, 1 << 40);
    peak(session, &tools, 1_000..WARM);
    let first = peak(session, &tools, WARM..2 * WARM);
    peak(session, &tools, 2 * WARM..CALLS - WARM);
    let last = peak(session, &tools, CALLS - WARM..CALLS);
    let late = quickest(session, probe, 1 << 41);
    let whole = freed(session);

    println!("peaks: {first} bytes by step {}, {last} by step {CALLS}; the session alone {whole}", 2 * WARM);
    println!("100 checks: {early:?} at step 1,000, {late:?} at step {CALLS}");
    assert!(whole < 1 << 20, "a session holds {whole} bytes");
    assert!(last < first + SLACK, "memory grew from {first} to {last} bytes");
    assert!(late < early * 3, "100 checks took {early:?} early and {late:?} late");
    policy.free().unwrap();
}

fn freed(session: Session) -> isize {
    let before = LIVING.load(Ordering::Relaxed);
    session.free().unwrap();
    before - LIVING.load(Ordering::Relaxed)
}
