//! Budgets of tokens and money, through the Rust API.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::Arc;

use microloop_core::{
    budget::Spending,
    engine::{Checked, Context, Engine, Speaker},
    policy::{Policy, Tool},
    verdict::{Action, Amount, Verdict},
};

struct Run {
    engine: Engine,
    tool: Arc<Tool>,
    calls: u32,
}

fn run(policy: &str) -> Run {
    let policy = Arc::new(Policy::from_json(policy.as_bytes()).unwrap());
    let tool = Arc::new(policy.tool("search").unwrap());
    Run { engine: Engine::new(policy, None, None, 0), tool, calls: 0 }
}

impl Run {
    /// Another call each time.
    fn check(&mut self) -> Checked {
        self.calls += 1;
        let arguments = format!("{{\"n\": {}}}", self.calls);
        self.engine.check(&self.tool, 0, arguments.as_bytes(), &Context::default(), 0)
    }

    fn spend(&mut self, tokens: u64) -> Checked {
        self.engine.spend(Spending { tokens, nano_usd: 0 })
    }

    fn verdict(&self, checked: Checked) -> Verdict {
        self.engine.verdict(checked.step).unwrap()
    }
}

#[test]
fn a_spent_budget_halts_the_run_for_good() {
    let mut run = run(r#"{"version": 1, "budgets": {"tokens": 100}}"#);
    assert_eq!(run.spend(50), Checked { step: 0, action: Action::Allow, noted: false });
    let halt = run.spend(50);
    assert_eq!((halt.action, run.verdict(halt).reason.code()), (Action::Halt, "budget.tokens"));
    run.engine.turn(Speaker::User, b"go on");
    for again in [run.check(), run.spend(0)] {
        assert_eq!((again.action, run.verdict(again).reason.code()), (Action::Halt, "budget.tokens"));
    }
    assert_eq!(run.engine.state().halted, Some("budget.tokens"));
    assert_eq!(run.engine.state().spending.tokens, 100);
}

#[test]
fn the_verdict_on_money_is_in_dollars() {
    let mut run = run(r#"{"version": 1, "budgets": {"usd": 0.5}}"#);
    let halt = run.engine.spend(Spending { tokens: 9, nano_usd: 510_000_000 });
    let verdict = run.verdict(halt);
    assert_eq!((verdict.reason.code(), verdict.rule.as_str()), ("budget.usd", "budgets.usd"));
    assert_eq!((verdict.limit, verdict.seen), (Some(Amount::NanoUsd(500_000_000)), Some(Amount::NanoUsd(510_000_000))));
    assert!(verdict.feedback.contains("the budget of $0.5 is spent."), "{}", verdict.feedback);
}

#[test]
fn what_is_left_at_the_end_is_for_the_answer() {
    let mut run = run(r#"{"version": 1, "budgets": {"tokens": 1000, "wrap_up": 0.2}}"#);
    assert_eq!(run.spend(850).action, Action::Allow);
    let refused = run.check();
    let verdict = run.verdict(refused);
    assert_eq!((verdict.action, verdict.reason.code()), (Action::Block, "budget.tokens"));
    assert_eq!((verdict.rule.as_str(), verdict.limit), ("budgets.wrap_up", Some(Amount::Count(1_000))));
    let wanted = "the budget for tools is spent; 150 tokens are left for your answer. Give your final answer now";
    assert!(verdict.feedback.contains(wanted), "{}", verdict.feedback);
    assert_eq!(run.engine.state().halted, None);
}

#[test]
fn many_calls_at_once_are_refused_for_the_answer_and_end_no_run() {
    let policy = r#"{"version": 1, "loops": {"refused": {"halt": 2}}, "budgets": {"tokens": 100}}"#;
    let mut run = run(policy);
    run.spend(95);
    for _ in 0..5 {
        let refused = run.check();
        assert_eq!((refused.action, run.verdict(refused).reason.code()), (Action::Block, "budget.tokens"));
    }
}

#[test]
fn in_observe_mode_nothing_is_refused_and_it_is_said_what_would_be() {
    let mut run = run(r#"{"version": 1, "mode": "observe", "budgets": {"tokens": 100}}"#);
    run.spend(95);
    let (wrap_up, halt, after) = (run.check(), run.spend(5), run.check());
    for (checked, would) in [(wrap_up, Action::Block), (halt, Action::Halt), (after, Action::Halt)] {
        let verdict = run.verdict(checked);
        assert_eq!((checked.action, verdict.would), (Action::Allow, Some(would)));
        assert_eq!(verdict.reason.code(), "budget.tokens");
    }
    assert_eq!(run.engine.state().halted, None);
}

#[test]
fn the_policys_own_words_name_the_amounts() {
    let policy = r#"{"version": 1, "budgets": {"usd": 2}, "messages": {"budget.usd": "{seen} of {limit} dollars."}}"#;
    let mut run = run(policy);
    let halt = run.engine.spend(Spending { tokens: 0, nano_usd: 2_250_000_000 });
    assert!(run.verdict(halt).feedback.ends_with("2.25 of 2 dollars."), "{}", run.verdict(halt).feedback);
}

#[test]
fn a_child_spends_what_its_parent_has() {
    let mut parent = run(r#"{"version": 1, "budgets": {"tokens": 100}}"#);
    let policy = Arc::new(Policy::from_json(br#"{"version": 1}"#).unwrap());
    let engine = Engine::new(policy, None, Some(&parent.engine), 0);
    let mut child = Run { engine, tool: Arc::clone(&parent.tool), calls: 0 };
    assert_eq!(child.spend(92).action, Action::Allow);
    assert_eq!((parent.check().action, child.check().action), (Action::Block, Action::Block));
    assert_eq!(child.spend(8).action, Action::Halt);
    assert_eq!(parent.check().action, Action::Halt);
}
