//! Bytes that are no saved session: refused, or a session that works, but never a panic.

#![expect(clippy::expect_used, clippy::indexing_slicing, reason = "a test speaks by panicking")]

use std::sync::Arc;

use microloop_core::{
    digest::Digest,
    engine::{Context, Engine, HasParent, Speaker},
    outcome::Outcome,
    policy::{Policy, Tool},
};

const POLICY: &[u8] = br#"{"version": 1,
    "loops": {"repeat": {"warn": 2, "block": 3, "halt": 9}, "cycle": {"warn": 3}, "error": {"warn": 2, "block": 4},
              "near": {"warn": 3}, "stall": {"warn": 3}, "text": {"warn": 2}, "invalid": {"block": 2},
              "retry": {"warn": 2, "backoff": {"base": "1s", "factor": 2, "max": "1m"}}, "learned": ["*_id"]},
    "budgets": {"calls": 1000, "per_minute": 100, "wall_time": "1h"},
    "tools": [{"match": "read", "effect": "read", "limit": {"per_minute": 50}}]}"#;

struct Host {
    policy: Arc<Policy>,
    tools: Vec<Arc<Tool>>,
}

impl Host {
    fn new() -> Self {
        let policy = Arc::new(Policy::from_json(POLICY).expect("a policy"));
        let tools = ["read", "other"].map(|name| Arc::new(policy.tool(name).expect("a tool"))).to_vec();
        Self { policy, tools }
    }

    fn restore(&self, bytes: &[u8]) -> Option<Engine> {
        Engine::restore(Arc::clone(&self.policy), bytes, &self.tools).ok()
    }

    /// Calls of every kind that leaves something behind.
    fn use_it(&self, engine: &mut Engine) {
        let before = engine.state().steps;
        for n in 0..12_u64 {
            let tool = usize::from(n % 3 == 2);
            let arguments = format!(r#"{{"q": "the words of call {}", "trace_id": {n}}}"#, n % 5);
            let arguments = if n == 7 { "{" } else { &arguments };
            let context = Context { call_id: Some(if n % 2 == 0 { b"a" } else { b"b" }), batch: None };
            let number = u32::try_from(tool).expect("small");
            let checked = engine.check(&self.tools[tool], number, arguments.as_bytes(), &context, n * 10);
            let _verdict = engine.verdict(checked.step);
            let outcome = if n % 4 == 3 { Outcome::Error(b"timeout") } else { Outcome::Text(b"nothing new") };
            if n % 5 < 4 {
                let _under_way = engine.record(checked.step, outcome, n * 10 + 5);
            }
        }
        engine.turn(Speaker::Assistant, b"Done.");
        engine.turn(Speaker::Assistant, b"Done.");
        assert!(engine.state().steps >= before);
    }

    fn saved(&self) -> Vec<u8> {
        let mut engine = Engine::new(Arc::clone(&self.policy), Some("reviewer"), None, 0);
        self.use_it(&mut engine);
        engine.save().expect("it has no parent")
    }

    fn survives(&self, bytes: &[u8]) {
        if let Some(mut engine) = self.restore(bytes) {
            self.use_it(&mut engine);
            engine.turn(Speaker::User, b"go on");
            engine.save().expect("it has no parent");
        }
    }
}

#[test]
fn what_was_saved_is_restored_as_it_was() {
    let host = Host::new();
    let saved = host.saved();
    let restored = host.restore(&saved).expect("what was saved");
    assert_eq!(restored.save(), Ok(saved));
    assert_eq!(restored.state().role, Some("reviewer"));
}

#[test]
fn the_bytes_stay_as_they_are_as_long_as_the_number_of_their_format() {
    // If this fails, the head of a saved session (capi/src/snapshot.rs) needs another number, and this test the new digest.
    assert_eq!(format!("{:?}", Digest::of(&Host::new().saved())), "ea64f4352f78292aa7c2d1b8b5c094f8");
}

#[test]
fn bytes_that_are_cut_short_or_too_long_are_refused() {
    let host = Host::new();
    let saved = host.saved();
    for len in 0..saved.len() {
        assert!(host.restore(&saved[..len]).is_none(), "{len} of {} bytes", saved.len());
    }
    assert!(host.restore(&[&saved[..], b"\0"].concat()).is_none());
}

#[test]
fn flipped_bits_are_refused_or_give_a_session_that_works() {
    let host = Host::new();
    let saved = host.saved();
    for at in 0..saved.len() {
        for bits in [0x01, 0x80] {
            let mut flipped = saved.clone();
            flipped[at] ^= bits;
            host.survives(&flipped);
        }
    }
}

#[test]
fn a_tool_that_was_not_saved_is_noticed() {
    let mut host = Host::new();
    let saved = host.saved();
    host.tools.pop();
    let refused = Engine::restore(Arc::clone(&host.policy), &saved, &host.tools).expect_err("a tool is missing");
    assert!(refused.0.contains("a tool that was not saved"), "{}", refused.0);
}

#[test]
fn a_session_with_a_parent_is_not_saved() {
    let host = Host::new();
    let parent = Engine::new(Arc::clone(&host.policy), None, None, 0);
    let child = Engine::new(Arc::clone(&host.policy), None, Some(&parent), 0);
    assert_eq!(child.save(), Err(HasParent));
    assert!(parent.save().is_ok());
}
