//! What the fuzz targets do with their bytes. A test of the capi crate (`tests/fuzz_corpus.rs`) includes this file too and
//! replays the corpus through it on a stable compiler.
//!
//! Everything goes through the C ABI, and what must hold whatever the input is asserted here.
#![allow(dead_code, reason = "each target uses one of the functions")]

use std::{
    ptr::null,
    sync::{Arc, OnceLock},
};

use microloop::{
    canonical::microloop_canonical,
    check::{
        MICROLOOP_ACTION_BLOCK, MICROLOOP_ACTION_HALT, MicroloopContext, microloop_cancel, microloop_check,
        microloop_check_named, microloop_record, microloop_refuse, microloop_spend, microloop_turn, microloop_verdict,
    },
    last_error::microloop_last_error,
    policy::{microloop_policy_free, microloop_policy_new},
    progress::{microloop_progress, microloop_record_measured},
    session::{microloop_session_free, microloop_session_new, microloop_session_state, microloop_session_time},
    snapshot::{microloop_session_load, microloop_session_save},
    status::{MICROLOOP_NOT_JSON, MICROLOOP_OK, MICROLOOP_PANIC, MICROLOOP_UNKNOWN_STEP},
    tool::microloop_policy_tool,
};
use microloop_core::{
    engine::{Context, Engine, Speaker},
    outcome::Outcome,
    policy::{Policy, Tool},
};
use serde_json::Value;

/// Every detector, some rules, budgets that are not met.
const POLICY: &str = r#"{"version": 1,
    "limits": {"argument_bytes": 4096},
    "loops": {"repeat": {"warn": 3, "block": 5, "halt": 8}, "write": {"warn": 2, "block": 3},
              "cycle": {"warn": 3, "block": 5}, "error": {"warn": 3, "block": 5, "halt": 9},
              "near": {"warn": 5}, "stall": {"warn": 5}, "text": {"warn": 3}, "invalid": {"block": 3, "halt": 9},
              "recur": {"warn": 9}, "learned": ["*_id", "ts"],
              "retry": {"warn": 4, "block": 6, "backoff": {"base": "1s", "factor": 2, "max": "1m"}}},
    "tools": [{"match": "write", "effect": "write"},
              {"match": "poll", "poll": {"deadline": "10m", "interval": "1s"}},
              {"match": "read", "effect": "read", "volatile": ["nonce"], "cursor": ["page"],
               "rules": [{"id": "r", "path": "q", "deny": {"regex": "(?i)drop\\s+table"}},
                         {"id": "s", "path": "list[*].id", "ask": {"range": {"min": 10}}},
                         {"id": "l", "require": {"max_length": 20}}]}],
    "budgets": {"calls": 100000, "per_minute": 1000}}"#;

const TOOLS: [&str; 4] = [
    r#"{"name": "read"}"#,
    r#"{"name": "write"}"#,
    r#"{"name": "poll"}"#,
    r#"{"name": "typed", "schema": {"type": "object", "properties": {"q": {"type": "string", "pattern": "^a+b"},
        "n": {"type": "integer", "minimum": 1}}, "required": ["q"], "additionalProperties": false}}"#,
];

/// Lines, each an operation: its letter, and what it takes.
///
/// `c0{…}` checks a call of tool 0, `n0{…}` one of a tool that nobody declared; `i0x{…}` the same with the call id `x`, `b0x{…}` with the batch `x`; `r`, `j`, `e` record
/// a text, JSON, an error for the latest step that runs; `x` cancels it, `d` refuses it; `u` and `a` are turns; `m9` spends tokens and
/// money; `w{…}` records a text with what is told of the step; `v` fetches the latest verdict, `s` the state, `p` where the
/// run stands; `t9` sets the time; `h` hands the session over: saves it and loads
/// what was saved; `k` makes canonical JSON.
pub fn check(data: &[u8]) {
    static POLICY_HANDLE: OnceLock<u64> = OnceLock::new();
    // Made once: the session is what is searched here.
    let policy = *POLICY_HANDLE.get_or_init(guarded_tools);
    let mut run = Run { policy, session: new_session(policy), ..Run::default() };
    for line in data.split(|byte| *byte == b'\n') {
        if let Some((letter, rest)) = line.split_first() {
            run.operation(*letter, rest);
        }
    }
    assert_eq!(microloop_session_free(run.session), MICROLOOP_OK);
}

fn guarded_tools() -> u64 {
    let policy = new_policy(POLICY.as_bytes()).expect("the policy of the fuzz targets is valid");
    for tool in TOOLS {
        declare(policy, tool.as_bytes()).expect("the tools of the fuzz targets are valid");
    }
    policy
}

#[derive(Default)]
struct Run {
    policy: u64,
    session: u64,
    latest: u64,
    running: Option<u64>,
    halted: bool,
}

impl Run {
    fn operation(&mut self, letter: u8, rest: &[u8]) {
        match letter {
            b'c' => self.call(rest, 0, null()),
            b'n' => self.call_named(rest),
            b'i' | b'b' => self.call_with(letter, rest),
            b'r' | b'j' | b'e' => self.record(letter, rest),
            b'w' => self.record_told(rest),
            b'x' => self.cancel(),
            b'd' => self.refuse(),
            b'u' | b'a' => self.turn(letter, rest),
            b'm' => self.spend(rest),
            b'v' => self.verdict(),
            b's' => self.state(),
            b'p' => self.progress(),
            b't' => self.time(rest),
            b'h' => self.hand_over(),
            b'k' => canonical(rest),
            _ => {}
        }
    }

    /// The byte after the tool is the call's id, or its batch.
    fn call_with(&mut self, letter: u8, rest: &[u8]) {
        let Some(id) = rest.get(1) else { return };
        let given: *const u8 = id;
        let context = match letter {
            b'i' => MicroloopContext { call_id: given, call_id_len: 1, batch: null(), batch_len: 0 },
            _ => MicroloopContext { call_id: null(), call_id_len: 0, batch: given, batch_len: 1 },
        };
        self.call(rest, 1, &raw const context);
    }

    fn call(&mut self, rest: &[u8], skip: usize, context: *const MicroloopContext) {
        let Some((tool, rest)) = rest.split_first() else { return };
        let arguments = rest.get(skip..).unwrap_or_default();
        let tool = u32::from(*tool) % 4;
        // SAFETY: the arguments have that many bytes; the context is null or lives in the caller.
        let packed = unsafe { microloop_check(self.session, tool, arguments.as_ptr(), arguments.len(), context) };
        self.called(packed, context.is_null(), arguments);
    }

    /// The byte after the letter makes the name; the long ones share what is counted by tool.
    fn call_named(&mut self, rest: &[u8]) {
        let Some((tool, arguments)) = rest.split_first() else { return };
        let name = format!("made up {tool}").repeat(if *tool < 128 { 1 } else { 30 });
        let (text, len) = (name.as_ptr(), name.len());
        // SAFETY: name and arguments have that many bytes; a null context is allowed.
        let packed =
            unsafe { microloop_check_named(self.session, text, len, arguments.as_ptr(), arguments.len(), null()) };
        self.called(packed, true, arguments);
    }

    fn called(&mut self, packed: i64, is_new: bool, arguments: &[u8]) {
        let before = self.latest;
        let (action, step) = self.judged(packed, is_new);
        let is_json = serde_json::from_slice::<Value>(arguments).is_ok();
        assert!(is_json || action >= MICROLOOP_ACTION_BLOCK, "arguments that are no JSON were let through");
        if step <= before {
            return; // A call id that was seen before is answered as it was then, also in a halted session.
        }
        assert!(!self.halted || action == MICROLOOP_ACTION_HALT, "a halted session let a new call through");
        self.halted = action == MICROLOOP_ACTION_HALT;
        self.running = (action < MICROLOOP_ACTION_BLOCK).then_some(step);
    }

    /// A packed verdict is well-formed, and steps are given out one by one.
    fn judged(&mut self, packed: i64, is_new: bool) -> (i32, u64) {
        assert!(packed >= 0, "{packed}: {}", last_error());
        let (action, noted) = (i32::try_from(packed & 0x7f).unwrap(), packed >> 7 & 1 == 1);
        let step = u64::try_from(packed >> 8).unwrap();
        assert!(matches!(action, 0 | 1 | 3 | 4 | 5), "no action: {action}");
        assert!(noted || action == 0, "a verdict without a word");
        assert!(step == self.latest + 1 || step == self.latest || !is_new, "step {step} after {}", self.latest);
        self.latest = self.latest.max(step);
        (action, step)
    }

    fn record(&mut self, letter: u8, outcome: &[u8]) {
        let kind = match letter {
            b'r' => 0,
            b'j' => 1,
            _ => 2,
        };
        let step = self.running.take();
        // SAFETY: the outcome has that many bytes.
        let status =
            unsafe { microloop_record(self.session, step.unwrap_or(u64::MAX), kind, outcome.as_ptr(), outcome.len()) };
        assert!(status == 0 || i32::try_from(status) == Ok(MICROLOOP_UNKNOWN_STEP), "{status}: {}", last_error());
    }

    /// What is no JSON is refused, and the step stays open; anything else is taken.
    fn record_told(&mut self, told: &[u8]) {
        let Some(step) = self.running.take() else { return };
        let (text, len) = (told.as_ptr(), told.len());
        // SAFETY: the outcome has one byte, and what is told that many.
        let status = unsafe { microloop_record_measured(self.session, step, 0, b"x".as_ptr(), 1, text, len) };
        if status == i64::from(MICROLOOP_NOT_JSON) {
            self.running = Some(step);
            return;
        }
        assert!(told.is_empty() || serde_json::from_slice::<Value>(told).is_ok(), "taken, though it is no JSON");
        assert_eq!(status, i64::from(MICROLOOP_OK), "{}", last_error());
    }

    fn progress(&self) {
        // SAFETY: `read` passes a buffer and how much it takes.
        let text = read(|buf, cap| unsafe { microloop_progress(self.session, 0, buf, cap) }).expect("a standing");
        let report: Value = serde_json::from_slice(&text).expect("a report is JSON");
        assert!(report["evidence"].is_array() && report["status"].is_string());
    }

    fn cancel(&mut self) {
        let status = microloop_cancel(self.session, self.running.take().unwrap_or(0));
        assert!(status == MICROLOOP_OK || status == MICROLOOP_UNKNOWN_STEP, "{status}: {}", last_error());
    }

    fn refuse(&mut self) {
        let packed = microloop_refuse(self.session, self.running.take().unwrap_or(0));
        if i32::try_from(packed) == Ok(MICROLOOP_UNKNOWN_STEP) {
            return;
        }
        assert!(packed >= 0, "{packed}: {}", last_error());
        let action = i32::try_from(packed & 0x7f).unwrap();
        assert!(matches!(action, MICROLOOP_ACTION_BLOCK | MICROLOOP_ACTION_HALT), "refused, and yet {action}");
        self.halted |= action == MICROLOOP_ACTION_HALT;
    }

    fn turn(&mut self, letter: u8, text: &[u8]) {
        let speaker = u32::from(letter == b'a');
        // SAFETY: the text has that many bytes.
        let packed = unsafe { microloop_turn(self.session, speaker, text.as_ptr(), text.len()) };
        let (action, _) = self.judged(packed, true);
        self.halted = if speaker == 0 { false } else { self.halted || action == MICROLOOP_ACTION_HALT };
    }

    /// No budget of these is set, so that a halt is still one that a user turn ends.
    fn spend(&mut self, rest: &[u8]) {
        let packed = microloop_spend(self.session, number(rest), number(rest));
        let (action, _) = self.judged(packed, true);
        assert_eq!(action == MICROLOOP_ACTION_HALT, self.halted, "spending that no budget limits");
    }

    fn verdict(&self) {
        // SAFETY: `read` passes a buffer and how much it takes.
        let text = read(|buf, cap| unsafe { microloop_verdict(self.session, self.latest, buf, cap) });
        let Ok(text) = text else { return };
        let verdict: Value = serde_json::from_slice(&text).expect("a verdict is JSON");
        assert_eq!(verdict["step"], self.latest);
        assert!(verdict["feedback"].as_str().is_some_and(|feedback| feedback.len() < 4096));
    }

    fn state(&self) {
        // SAFETY: `read` passes a buffer and how much it takes.
        let text = read(|buf, cap| unsafe { microloop_session_state(self.session, buf, cap) }).expect("a state");
        serde_json::from_slice::<Value>(&text).expect("a state is JSON");
    }

    fn time(&self, rest: &[u8]) {
        assert_eq!(microloop_session_time(self.session, number(rest)), MICROLOOP_OK);
    }
}

impl Run {
    fn hand_over(&mut self) {
        // SAFETY: `read` passes a buffer and how much it takes.
        let saved =
            read(|buf, cap| unsafe { microloop_session_save(self.session, buf, cap) }).expect("it has no parent");
        let mut loaded = 0;
        // SAFETY: the bytes are as many as that, and the handle takes a write.
        let status = unsafe { microloop_session_load(self.policy, saved.as_ptr(), saved.len(), &raw mut loaded) };
        assert_eq!(status, MICROLOOP_OK, "{}", last_error());
        assert_eq!(microloop_session_free(self.session), MICROLOOP_OK);
        self.session = loaded;
    }
}

fn number(text: &[u8]) -> u64 {
    std::str::from_utf8(text).ok().and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// Canonical text is canonical: made of itself, it is the same.
fn canonical(text: &[u8]) {
    let Ok(once) = canonical_of(text) else { return };
    assert_eq!(canonical_of(&once), Ok(once.clone()));
    serde_json::from_slice::<Value>(&once).expect("canonical JSON is JSON");
}

fn canonical_of(text: &[u8]) -> Result<Vec<u8>, i64> {
    // SAFETY: the text has that many bytes, and `read` passes a buffer and how much it takes.
    read(|buf, cap| unsafe { microloop_canonical(text.as_ptr(), text.len(), buf, cap) })
}

/// Any bytes as a policy: it is refused with a message, or it works.
pub fn policy(data: &[u8]) {
    let policy = match new_policy(data) {
        Ok(policy) => policy,
        Err(status) => {
            assert_ne!(status, MICROLOOP_PANIC, "{}", last_error());
            assert!(!last_error().is_empty());
            return;
        }
    };
    let session = new_session(policy);
    for (number, declaration) in TOOLS.iter().enumerate() {
        let Ok(tool) = declare(policy, declaration.as_bytes()) else { continue };
        for n in 0..4 {
            let arguments = format!(r#"{{"q": "a drop table b", "n": {}, "list": [{{"id": {number}}}]}}"#, n % 2);
            // SAFETY: the arguments have that many bytes; a null context is allowed.
            let packed = unsafe { microloop_check(session, tool, arguments.as_ptr(), arguments.len(), null()) };
            assert!(packed >= 0, "{packed}: {}", last_error());
            // SAFETY: the outcome has no bytes.
            unsafe { microloop_record(session, u64::try_from(packed >> 8).unwrap(), 0, null(), 0) };
        }
    }
    assert_eq!(microloop_session_free(session), MICROLOOP_OK);
    assert_eq!(microloop_policy_free(policy), MICROLOOP_OK);
}

/// Any bytes as a session: they are refused, or it works, and can be saved again.
pub fn snapshot(data: &[u8]) {
    let policy = Arc::new(Policy::from_json(POLICY.as_bytes()).expect("the policy of the fuzz targets is valid"));
    let tools: Vec<Arc<Tool>> =
        ["read", "write", "poll"].iter().map(|name| Arc::new(policy.tool(name).expect("a tool"))).collect();
    let Ok(mut engine) = Engine::restore(Arc::clone(&policy), data, &tools) else { return };
    for n in 0..16_u32 {
        let number = n % 3;
        let arguments = format!(r#"{{"q": "the same words {}", "trace_id": {n}}}"#, n % 2);
        let context = Context { call_id: Some(if n % 4 == 0 { b"a" } else { b"b" }), batch: None };
        let tool = &tools[usize::try_from(number).unwrap()];
        let checked = engine.check(tool, number, arguments.as_bytes(), &context, u64::from(n));
        let _noted = engine.verdict(checked.step);
        let _under_way = engine.record(checked.step, Outcome::Text(b"nothing"), u64::from(n));
    }
    engine.turn(Speaker::Assistant, b"Done.");
    engine.turn(Speaker::User, b"go on");
    let saved = engine.save().expect("it has no parent");
    assert!(Engine::restore(policy, &saved, &tools).is_ok(), "what was saved is not restored");
}

fn new_policy(json: &[u8]) -> Result<u64, i32> {
    let mut policy = 7;
    // SAFETY: the text has that many bytes and the handle takes a write.
    let status = unsafe { microloop_policy_new(json.as_ptr(), json.len(), &raw mut policy) };
    assert!(status == MICROLOOP_OK || policy == 0);
    if status == MICROLOOP_OK { Ok(policy) } else { Err(status) }
}

fn new_session(policy: u64) -> u64 {
    let mut session = 0;
    // SAFETY: there are no options, and the handle takes a write.
    let status = unsafe { microloop_session_new(policy, null(), 0, &raw mut session) };
    assert_eq!(status, MICROLOOP_OK, "{}", last_error());
    assert_eq!(microloop_session_time(session, 0), MICROLOOP_OK);
    session
}

fn declare(policy: u64, declaration: &[u8]) -> Result<u32, i32> {
    let mut tool = 0;
    // SAFETY: the text has that many bytes and the index takes a write.
    let status = unsafe { microloop_policy_tool(policy, declaration.as_ptr(), declaration.len(), &raw mut tool) };
    assert_ne!(status, MICROLOOP_PANIC, "{}", last_error());
    if status == MICROLOOP_OK { Ok(tool) } else { Err(status) }
}

fn read(fill: impl Fn(*mut u8, usize) -> i64) -> Result<Vec<u8>, i64> {
    let needed = fill(std::ptr::null_mut(), 0);
    let mut text = vec![0; usize::try_from(needed).map_err(|_| needed)?];
    assert_eq!(fill(text.as_mut_ptr(), text.len()), needed);
    Ok(text)
}

fn last_error() -> String {
    // SAFETY: `read` passes a buffer and how much it takes.
    let text = read(|buf, cap| unsafe { microloop_last_error(buf, cap) });
    String::from_utf8(text.unwrap_or_default()).expect("messages are UTF-8")
}
