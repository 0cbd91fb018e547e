//! Steps that the host refuses after the engine has let them through.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::Arc;

use microloop_core::{
    budget::Spending,
    engine::{Context, Engine, Speaker},
    outcome::Outcome,
    policy::{Policy, Tool},
    verdict::Action,
};

struct Run {
    engine: Engine,
    tool: Arc<Tool>,
    calls: u32,
}

impl Run {
    fn new(policy: &str) -> Self {
        let policy = Arc::new(Policy::from_json(policy.as_bytes()).unwrap());
        let tool = Arc::new(policy.tool("search").unwrap());
        Self { engine: Engine::new(policy, None, None, 0), tool, calls: 0 }
    }

    fn check(&mut self, arguments: &str) -> (u64, Action) {
        let checked = self.engine.check(&self.tool, 0, arguments.as_bytes(), &Context::default(), 0);
        (checked.step, checked.action)
    }

    /// Another call each time, which the engine lets through.
    fn let_through(&mut self) -> u64 {
        self.calls += 1;
        let (step, action) = self.check(&format!("{{\"n\": {}}}", self.calls));
        assert_eq!(action, Action::Allow);
        step
    }

    fn refused_by_host(&mut self) -> Action {
        let step = self.let_through();
        let tool = Arc::clone(&self.tool);
        self.engine.host_refuses(step, |_| Some(tool)).unwrap().action
    }
}

const HALTS_AT_4: &str = r#"{"version": 1, "loops": {"refused": {"halt": 4}}, "budgets": {"calls": 5},
    "tools": [{"match": "search", "rules": [{"id": "r", "path": "q", "deny": {"equals": "s"}}]}]}"#;

#[test]
fn a_model_that_gets_nothing_but_refusals_of_the_host_is_halted() {
    let mut run = Run::new(HALTS_AT_4);
    let seen: Vec<Action> = (0..4).map(|_| run.refused_by_host()).collect();
    assert_eq!(seen, [Action::Block, Action::Block, Action::Block, Action::Halt]);
    let verdict = run.engine.verdict(4).unwrap();
    assert_eq!((verdict.reason.code(), verdict.tool.as_str()), ("loop.refused", "search"));
    assert_eq!(run.check("{}").1, Action::Halt);
}

#[test]
fn refusals_of_the_host_and_of_the_engine_are_counted_together() {
    let mut run = Run::new(HALTS_AT_4);
    assert_eq!(run.check(r#"{"q": "s"}"#).1, Action::Block);
    assert_eq!(run.refused_by_host(), Action::Block);
    assert_eq!(run.check(r#"{"q": "s"}"#).1, Action::Block);
    assert_eq!(run.refused_by_host(), Action::Halt);
    assert_eq!(run.engine.state().refusals, 4);
}

#[test]
fn a_call_that_runs_ends_the_row() {
    let mut run = Run::new(HALTS_AT_4);
    assert!((0..3).all(|_| run.refused_by_host() == Action::Block));
    let step = run.let_through();
    run.engine.record(step, Outcome::Text(b"found"), 0).unwrap();
    assert!((0..3).all(|_| run.refused_by_host() == Action::Block));
}

#[test]
fn a_call_that_ran_in_between_or_a_person_who_spoke_ended_the_row_before_it() {
    for person in [false, true] {
        let mut run = Run::new(HALTS_AT_4);
        assert!((0..3).all(|_| run.refused_by_host() == Action::Block));
        let (open, other) = (run.let_through(), run.let_through());
        if person {
            run.engine.turn(Speaker::User, b"go on");
        } else {
            run.engine.record(other, Outcome::Text(b"found"), 0).unwrap();
        }
        assert_eq!(run.engine.host_refuses(open, |_| None).unwrap().action, Action::Block);
        assert_eq!(run.engine.state().halted, None);
    }
}

#[test]
fn a_run_that_was_halted_stays_halted_for_its_first_reason() {
    let mut run = Run::new(r#"{"version": 1, "loops": {"refused": {"halt": 2}}, "budgets": {"tokens": 10}}"#);
    run.refused_by_host();
    let open = run.let_through();
    run.engine.spend(Spending { tokens: 10, nano_usd: 0 });
    run.engine.host_refuses(open, |_| None).unwrap();
    assert_eq!(run.engine.state().halted, Some("budget.tokens"));
}

#[test]
fn what_the_host_refuses_is_not_charged() {
    let mut run = Run::new(HALTS_AT_4);
    run.refused_by_host();
    run.refused_by_host();
    assert_eq!((run.engine.state().calls, run.engine.state().refusals), (0, 2));
}

#[test]
fn in_observe_mode_the_refusals_of_the_host_halt_nothing() {
    let mut run = Run::new(r#"{"version": 1, "mode": "observe", "loops": {"refused": {"halt": 2}}}"#);
    assert!((0..5).all(|_| run.refused_by_host() == Action::Block));
    assert_eq!(run.engine.state().halted, None);
}

#[test]
fn a_step_is_refused_once() {
    let mut run = Run::new(HALTS_AT_4);
    let step = run.let_through();
    assert!(run.engine.host_refuses(step, |_| None).is_ok());
    assert!(run.engine.host_refuses(step, |_| None).is_err());
    assert!(run.engine.cancel(step).is_err());
}

#[test]
fn a_name_that_no_tool_can_have_is_refused_and_not_kept() {
    let policy = Arc::new(Policy::from_json(HALTS_AT_4.as_bytes()).unwrap());
    let mut engine = Engine::new(Arc::clone(&policy), None, None, 0);
    let mut action_of = |len: usize| {
        let tool = Arc::new(policy.tool(&"n".repeat(len)).unwrap());
        let checked = engine.check(&tool, 0, b"{}", &Context::default(), 0);
        (checked.action, engine.verdict(checked.step).map(|verdict| verdict.tool.len()))
    };
    assert_eq!(action_of(4096), (Action::Allow, None));
    assert_eq!(action_of(4097), (Action::Block, Some(0)));
}
