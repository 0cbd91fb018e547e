//! Whole runs, and where the monitor sees them after each step.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::Arc;

use microloop_core::{
    digest::Digest,
    engine::{Context, Engine, Report, Speaker},
    outcome::Outcome,
    policy::{Policy, Reaction, Tool},
    progress::{Measures, Status, Status::*},
    verdict::Action,
};

const LOOPS: &str = r#"{"version": 1, "mode": "observe",
    "loops": {"repeat": {"warn": 3, "block": 5}, "cycle": {"warn": 3, "block": 5}, "error": {"warn": 3, "block": 5}},
    "progress": {"stalled": "replan", "regressing": "stop", "cooldown_steps": 3}}"#;

struct Run {
    engine: Engine,
    tool: Arc<Tool>,
}

impl Run {
    fn new() -> Self {
        let policy = Policy::from_json(LOOPS.as_bytes()).unwrap();
        let tool = Arc::new(policy.tool("run").unwrap());
        Self { engine: Engine::new(Arc::new(policy), None, None, 0), tool }
    }

    fn step(&mut self, action: &str, output: &str, measures: &Measures) -> Status {
        let arguments = format!("{action:?}");
        let outcome = if output.starts_with("Error") { Outcome::Error } else { Outcome::Text };
        self.engine.observe(&self.tool, 0, arguments.as_bytes(), outcome(output.as_bytes()), measures, 0).status
    }

    fn in_state(&mut self, action: &str, output: &str, state: &str) -> Status {
        self.step(action, output, &Measures { state: Some(Digest::of(state.as_bytes())), ..Measures::default() })
    }

    fn report(&self) -> Report {
        self.engine.report(0).unwrap()
    }

    fn plain(&mut self, action: &str, output: &str) -> Status {
        self.step(action, output, &Measures::default())
    }

    /// Until the run is stalled.
    fn get_stuck(&mut self) {
        for _ in 0..5 {
            self.plain("ls", "a.txt and nothing else");
        }
    }

    fn failing(&mut self, failures: f64) -> Status {
        self.step("make test", "…", &Measures { failures: Some(failures), ..Measures::default() })
    }
}

#[test]
fn the_same_result_again_and_again_is_a_warning_and_then_a_stall() {
    let mut run = Run::new();
    let seen: Vec<Status> = (0..6).map(|_| run.plain("ls", "a.txt and nothing else")).collect();
    assert_eq!(seen, [Healthy, Healthy, Warning, Warning, Stalled, Stalled]);
}

#[test]
fn a_poll_whose_answer_changes_is_healthy() {
    let mut run = Run::new();
    assert!((0..30).all(|n| run.plain("status", &format!("{n} of 30 files copied")) == Healthy));
}

#[test]
fn a_wait_that_ends_is_no_stall_however_long_it_was() {
    let mut run = Run::new();
    (0..4).for_each(|_| {
        run.plain("job status", "the job is still running");
    });
    assert_eq!(run.plain("job status", "the job is done: 7 files"), Warning);
    assert_eq!(run.plain("cat 1", "a file"), Healthy);
}

#[test]
fn the_same_text_in_another_state_of_the_world_is_no_repeat() {
    let mut run = Run::new();
    assert!((0..20).all(|page| run.in_state("click next", "clicked", &format!("page {page}")) == Healthy));
}

#[test]
fn the_same_text_in_the_same_state_is_a_repeat() {
    let mut run = Run::new();
    let seen: Vec<Status> = (0..5).map(|_| run.in_state("click next", "clicked", "page 3")).collect();
    assert_eq!(seen, [Healthy, Healthy, Warning, Warning, Stalled]);
}

#[test]
fn another_text_of_the_same_call_is_no_news_where_the_world_stands_still() {
    let mut run = Run::new();
    (0..5).for_each(|_| {
        run.in_state("click", "clicked and nothing else", "page 3");
    });
    let seen: Vec<Status> = (0..5).map(|n| run.in_state("click", &format!("attempt {n}"), "page 3")).collect();
    assert_eq!(seen, [Stalled; 5]);
    let seen: Vec<Status> = (0..3).map(|n| run.in_state("scroll", "scrolled", &format!("page {n}"))).collect();
    assert_eq!(seen, [Stalled, Stalled, Healthy]);
}

#[test]
fn one_error_whatever_is_tried_is_a_stall_and_another_error_is_none() {
    let mut run = Run::new();
    let same: Vec<Status> = (0..5).map(|n| run.plain(&format!("open {n}"), "Error: disk 1 is full")).collect();
    assert_eq!(same, [Healthy, Healthy, Warning, Warning, Stalled]);
    let mut run = Run::new();
    let causes = ["disk full", "no such file", "permission denied", "bad date", "timeout", "unknown host"];
    assert!(causes.iter().all(|cause| run.plain("make", &format!("Error: {cause}")) == Healthy));
}

#[test]
fn an_error_that_is_overcome_is_no_stall() {
    let mut run = Run::new();
    (0..4).for_each(|n| {
        run.plain(&format!("open {n}"), "Error: disk 1 is full");
    });
    assert_eq!(run.plain("open 5", "the text of the file"), Warning);
}

#[test]
fn one_new_step_does_not_end_a_stall() {
    let mut run = Run::new();
    run.get_stuck();
    assert_eq!(run.plain("cat a.txt", "some text"), Stalled);
    assert_eq!(run.plain("cat b.txt", "other text"), Stalled);
    assert_eq!(run.plain("cat c.txt", "more text"), Healthy);
}

#[test]
fn failing_tests_that_become_fewer_are_progress() {
    let mut run = Run::new();
    for left in [5.0, 4.0, 2.0] {
        run.plain(&format!("edit {left}"), "the file a.py has been edited");
        run.failing(left);
    }
    assert_eq!(run.engine.assessment().status, Healthy);
    assert!(run.report().verified_progress);
}

#[test]
fn tests_that_fail_more_than_they_did_are_a_regression_until_they_are_back() {
    let mut run = Run::new();
    assert_eq!([5.0, 2.0, 4.0, 4.0].map(|failures| run.failing(failures)), [Healthy, Healthy, Warning, Regressing]);
    assert_eq!(run.plain("cat a.txt", "some text"), Regressing);
    assert_eq!(run.report().evidence.first().unwrap().reason, "verifier.worse");
    assert_ne!(run.failing(2.0), Regressing);
}

#[test]
fn one_verification_told_twice_is_one_reading() {
    let mut run = Run::new();
    let mut read = |id: &str, failures| {
        let (verifier, verification) = (Some(Digest::of(b"unit")), Some(Digest::of(id.as_bytes())));
        run.step(id, "…", &Measures { verifier, verification, failures: Some(failures), ..Measures::default() })
    };
    assert_eq!(
        [("a", 2.0), ("b", 4.0), ("b", 4.0), ("b", 4.0)].map(|(id, n)| read(id, n)),
        [Healthy, Warning, Warning, Warning]
    );
    assert_eq!(read("c", 4.0), Regressing);
}

#[test]
fn a_user_turn_begins_anew_but_what_was_best_stays_so() {
    let mut run = Run::new();
    run.get_stuck();
    run.failing(2.0);
    run.engine.turn(Speaker::User, b"go on");
    assert_eq!(run.engine.assessment().status, Healthy);
    assert_eq!([3.0, 3.0].map(|failures| run.failing(failures)), [Warning, Regressing]);
}

#[test]
fn arguments_that_cannot_be_read_are_taken_for_a_text() {
    let policy = Policy::from_json(LOOPS.as_bytes()).unwrap();
    let tool = Arc::new(policy.tool("run").unwrap());
    let mut engine = Engine::new(Arc::new(policy), None, None, 0);
    let mut seen = |text: &str, output: &str| {
        let outcome = Outcome::Text(output.as_bytes());
        engine.observe(&tool, 0, text.as_bytes(), outcome, &Measures::default(), 0).clone()
    };
    let steps: Vec<Status> = (0..5).map(|_| seen("{cut off", "one").status).collect();
    assert_eq!(steps, [Healthy, Healthy, Warning, Warning, Stalled]);
    assert_eq!(seen("{cut elsewhere", "two").step, 6);
}

#[test]
fn the_evidence_of_earlier_steps_is_kept_for_a_while() {
    let mut run = Run::new();
    run.get_stuck();
    (0..3).for_each(|n| {
        run.plain(&format!("cat {n}"), &format!("text {n}"));
    });
    assert_eq!(run.engine.assessment().status, Healthy);
    assert_eq!(run.engine.report(5).unwrap().status, Stalled);
    assert_eq!(run.engine.report(1), None);
    (0..80).for_each(|_| {
        run.plain("ls", "a.txt and nothing else");
    });
    assert_eq!(run.engine.report(5), None);
}

#[test]
fn two_checks_have_two_histories() {
    let mut run = Run::new();
    let mut read = |name: &str, failures| {
        let measures =
            Measures { verifier: Some(Digest::of(name.as_bytes())), failures: Some(failures), ..Measures::default() };
        run.step(name, "…", &measures)
    };
    let seen =
        [("unit", 1.0), ("lint", 9.0), ("unit", 1.0), ("lint", 8.0)].map(|(name, failures)| read(name, failures));
    assert_eq!(seen, [Healthy; 4]);
}

#[test]
fn a_check_that_does_not_move_is_a_warning_long_before_it_is_a_stall() {
    let mut run = Run::new();
    let mut seen = Vec::new();
    for attempt in 0..12 {
        run.plain(&format!("edit {attempt}"), "the file a.py has been edited");
        seen.push(run.step(
            "make test",
            &format!("attempt {attempt}"),
            &Measures { failures: Some(3.0), ..Measures::default() },
        ));
    }
    assert_eq!(seen.iter().position(|status| *status == Warning), Some(5));
    assert_eq!(seen.iter().position(|status| *status == Stalled), Some(9));
}

#[test]
fn the_summary_of_a_test_runner_is_read_where_nobody_reports_it() {
    let mut run = Run::new();
    let seen =
        ["3 failed, 1 passed in 0.10s", "1 failed, 3 passed in 0.10s"].map(|summary| run.plain("pytest", summary));
    assert_eq!(seen, [Healthy, Healthy]);
    assert!(run.report().verified_progress);
}

#[test]
fn the_policy_is_heeded_once_and_then_not_for_a_while() {
    let mut run = Run::new();
    let mut asked = Vec::new();
    for _ in 0..10 {
        run.plain("ls", "a.txt and nothing else");
        asked.push(run.engine.assessment().intervention);
    }
    let steps: Vec<usize> =
        asked.iter().enumerate().filter(|(_, asked)| **asked == Reaction::Replan).map(|(at, _)| at).collect();
    assert_eq!(steps, [4, 8]);
}

#[test]
fn a_report_names_the_steps_and_the_reason() {
    let mut run = Run::new();
    run.get_stuck();
    let report = run.report();
    assert_eq!((report.status, report.evidence.len()), (Stalled, 1));
    let proof = report.evidence.first().unwrap();
    assert_eq!((proof.reason, proof.steps.as_slice()), ("loop.repeat", [1, 2, 3, 4].as_slice()));
    assert!(report.feedback.starts_with("This run is stalled: "), "{}", report.feedback);
}

#[test]
fn a_rule_can_hold_while_the_run_is_stalled() {
    let policy = r#"{"version": 1, "loops": {"repeat": {"warn": 3, "block": 5}}, "tools": [{"match": "write", "rules": [
        {"id": "think-first", "when": "stalled", "deny": {}}]}]}"#;
    let policy = Policy::from_json(policy.as_bytes()).unwrap();
    let [read, write] = ["read", "write"].map(|name| Arc::new(policy.tool(name).unwrap()));
    let mut engine = Engine::new(Arc::new(policy), None, None, 0);
    let mut call = |tool, index, arguments: &str, result: &str| {
        let checked = engine.check(tool, index, arguments.as_bytes(), &Context::default(), 0);
        let _ = engine.record(checked.step, Outcome::Text(result.as_bytes()), 0);
        checked.action
    };
    assert_eq!(call(&write, 1, "{}", "a text"), Action::Allow);
    (0..4).for_each(|_| assert!(call(&read, 0, "{}", "the same text") < Action::Block));
    assert_eq!(call(&read, 0, "{}", ""), Action::Block);
    assert_eq!(call(&write, 1, "{}", ""), Action::Block);
    for page in 0..3 {
        assert_eq!(call(&read, 0, &format!("[{page}]"), &format!("page {page}")), Action::Allow);
    }
    assert_eq!(call(&write, 1, "{}", "a text"), Action::Allow);
}
