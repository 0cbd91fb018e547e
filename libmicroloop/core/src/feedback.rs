//! What the model is told: what happened, which limit, one thing to do instead.
//!
//! Short, without the arguments, and never the same twice: each text carries its number in the session, and the advice takes turns.

use alloc::{format, string::String};

use crate::{
    noted::Note,
    policy::Tool,
    verdict::{Action, Finding, Reason},
};

/// A model can make up names of any length.
const LONGEST_NAME: usize = 64;

/// The feedback for a note.
pub(crate) fn text(note: &Note) -> String {
    let finding = &note.finding;
    let name = tool_name(note.tool.as_deref());
    let head = format!("[microloop #{}] {}", note.serial, headline(finding.action, &name));
    let own = note.tool.as_ref().and_then(|tool| tool.messages.get(finding.reason.code()));
    match own {
        Some(message) => format!("{head} {}", fill(message, &name, finding)),
        None => format!("{head} {} {}", what(finding), instead(finding, note.serial)),
    }
}

fn tool_name(tool: Option<&Tool>) -> String {
    let name = tool.map_or("the assistant", |tool| tool.name.as_str());
    name.chars().filter(|letter| !letter.is_control()).take(LONGEST_NAME).collect()
}

fn headline(action: Action, tool: &str) -> String {
    match action {
        Action::Allow | Action::Warn => format!("Advice on {tool}:"),
        Action::Ask => format!("{tool} needs approval:"),
        Action::Block => format!("{tool} was refused:"),
        Action::Halt => format!("{tool} was refused and this run is halted:"),
    }
}

fn fill(message: &str, tool: &str, finding: &Finding) -> String {
    let number = |n: Option<u64>| n.map_or_else(String::new, |n| format!("{n}"));
    message.replace("{tool}", tool).replace("{seen}", &number(finding.seen)).replace("{limit}", &number(finding.limit))
}

/// What happened, and which limit.
fn what(finding: &Finding) -> String {
    let seen = finding.seen.unwrap_or_default();
    let limit = finding.limit.unwrap_or_default();
    let detail = finding.detail.as_deref().unwrap_or_default();
    match finding.reason {
        Reason::Repeat => {
            format!("call number {seen} with the same arguments, and the result is the same each time (limit {limit}).")
        }
        Reason::Cycle => format!("round {seen} of the same sequence of calls with the same results (limit {limit})."),
        Reason::Retry if finding.rule.ends_with("backoff") => {
            format!("it failed and is tried again after {seen} ms; the policy asks for {limit} ms.")
        }
        Reason::Retry => format!("attempt number {seen} of a call that keeps failing (limit {limit})."),
        Reason::Poll => format!("polled again after {seen} ms; its interval is {limit} ms."),
        Reason::Error => format!("the same error {} times in a row (limit {limit}). {detail}", seen.saturating_sub(1)),
        Reason::Near => {
            format!("call number {seen} that says nearly the same and gets the same result (limit {limit}).")
        }
        Reason::Stall => format!("{} different calls in a row gave the same result.", seen.saturating_sub(1)),
        Reason::Text => format!("turn number {seen} that is empty or repeats the last one (limit {limit})."),
        Reason::Refused => format!("refusal number {seen} in a row (limit {limit})."),
        Reason::Size => format!("the arguments have {seen} bytes (limit {limit})."),
        Reason::BudgetCalls => format!("the budget of {limit} calls is spent."),
        Reason::BudgetTool => format!("its budget of {limit} calls is spent."),
        Reason::BudgetRate => format!("more than {limit} calls in a minute."),
        Reason::BudgetTime => format!("the time budget of {} s is spent.", limit / 1000),
        Reason::Duplicate => "the same call stands twice in one batch; the first one answers both.".into(),
        Reason::Role => "this role may not call it.".into(),
        Reason::Malformed
        | Reason::Schema
        | Reason::RuleDeny
        | Reason::RuleRequire
        | Reason::RuleAsk
        | Reason::None => detail.into(),
    }
}

const REPEAT: &[&str] = &[
    "Use the result you already have, or change the arguments.",
    "Take another approach: another tool, or another question.",
    "If nothing else can be tried, say what you found and finish.",
];
const FAILING: &[&str] = &[
    "Read the error and change what it names before you try again.",
    "Check the names and types first, for example by listing what exists.",
    "Try another tool, or report what fails and finish.",
];
const NOTHING_NEW: &[&str] = &[
    "What you look for may not be there: widen the question or look elsewhere.",
    "Say what was not found and go on with the next part of the task.",
    "Try a different source, or finish with what you know.",
];
const ARGUMENTS: &[&str] = &[
    "Send the arguments again in this form.",
    "Correct just the part that is named and send the call again.",
    "If the value is not known, ask for it or look it up first.",
];
const FORBIDDEN: &[&str] = &[
    "Do it in a way that the rules allow.",
    "Leave this step out and say so.",
    "Ask the user if there is no other way.",
];
const SPENT: &[&str] = &["Finish with what you have."];
const WAIT: &[&str] = &["Wait before the next call.", "Do something else in the meantime."];

/// One thing to do instead.
fn instead(finding: &Finding, serial: u64) -> &'static str {
    let choices = match finding.reason {
        Reason::Repeat | Reason::Cycle | Reason::Text | Reason::Refused | Reason::None => REPEAT,
        Reason::Error | Reason::Retry if finding.rule.ends_with("backoff") => WAIT,
        Reason::Error if finding.rule == "args.schema" || finding.rule == "args.malformed" => ARGUMENTS,
        Reason::Error | Reason::Retry => FAILING,
        Reason::Near | Reason::Stall => NOTHING_NEW,
        Reason::Malformed | Reason::Size | Reason::Schema => ARGUMENTS,
        Reason::Role | Reason::RuleDeny | Reason::RuleRequire | Reason::RuleAsk => FORBIDDEN,
        Reason::BudgetCalls | Reason::BudgetTool | Reason::BudgetTime => SPENT,
        Reason::BudgetRate | Reason::Poll => WAIT,
        Reason::Duplicate => return "Do not send it again.",
    };
    let turn = usize::try_from(serial).unwrap_or_default().checked_rem(choices.len()).unwrap_or_default();
    choices.get(turn).copied().unwrap_or_default()
}
