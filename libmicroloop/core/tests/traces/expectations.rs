//! What is wrong with the verdicts on a trace.

use microloop_core::verdict::Action;
use serde_json::Value;

use crate::run::Said;

fn word(action: Action) -> &'static str {
    match action {
        Action::Allow => "allow",
        Action::Warn => "warn",
        Action::Ask => "ask",
        Action::Block => "block",
        Action::Halt => "halt",
    }
}

fn stops(said: &Said) -> bool {
    said.action >= Action::Block
}

fn notices(said: &Said) -> bool {
    said.action != Action::Allow
}

/// `said` holds one answer for each step, none for a user turn.
pub fn problems(trace: &Value, said: &[Option<Said>]) -> Vec<String> {
    let steps = trace["steps"].as_array().expect("steps");
    let told: Vec<(&Value, &Said)> =
        steps.iter().zip(said).filter_map(|(step, said)| Some((step, said.as_ref()?))).collect();
    let mut problems: Vec<String> =
        told.iter().enumerate().filter_map(|(at, (step, said))| step_problem(at + 1, step, said)).collect();
    let calls: Vec<&Said> = told.iter().filter(|(step, _)| step.get("tool").is_some()).map(|(_, said)| *said).collect();
    problems.extend(late("noticed", &trace["noticed_by"], &calls, notices));
    problems.extend(late("stopped", &trace["stopped_by"], &calls, stops));
    problems.extend(forbidden(&trace["never"], told.iter().map(|(_, said)| *said)));
    problems
}

fn step_problem(number: usize, step: &Value, said: &Said) -> Option<String> {
    let action = word(said.action);
    let expected = &step["expect"];
    let listed = expected.as_array().is_some_and(|list| list.iter().any(|one| one == action));
    if !(expected.is_null() || expected == action || listed) {
        return Some(format!("step {number}: expected {expected}, seen {action} ({})", said.reason));
    }
    let status = serde_json::to_value(said.status).expect("a word");
    if !step["status"].is_null() && step["status"] != status {
        return Some(format!("step {number}: expected the run to be {}, seen {status}", step["status"]));
    }
    let reason = step["reason"].as_str().unwrap_or(said.reason);
    (reason != said.reason).then(|| format!("step {number}: expected the reason {reason}, seen {}", said.reason))
}

fn late(word: &str, by: &Value, calls: &[&Said], counts: fn(&Said) -> bool) -> Option<String> {
    let by = usize::try_from(by.as_u64()?).ok()?;
    let first = calls.iter().position(|said| counts(said)).map(|at| at + 1);
    let late = first.is_none_or(|first| first > by);
    late.then(|| format!("expected to be {word} by call {by}, seen at call {first:?}"))
}

fn forbidden<'s>(never: &Value, mut said: impl Iterator<Item = &'s Said>) -> Option<String> {
    let forbids = match never.as_str()? {
        "stop" => stops,
        _ => notices,
    };
    let at = said.position(forbids)?;
    Some(format!("expected never to {never}, seen at {}", at + 1))
}
