//! What the model is told: what happened, which limit, one thing to do instead.
//!
//! Short, without the arguments, and never the same twice: each text carries its number in the session, and the advice takes turns.

use alloc::{format, string::String};
use core::fmt::{self, Write};

use crate::{
    noted::Note,
    policy::Tool,
    verdict::{Action, Finding, Reason},
};

/// A model can make up names of any length.
const LONGEST_NAME: usize = 64;

/// Most texts fit.
const USUAL: usize = 256;

/// The feedback for a note.
pub(crate) fn text(note: &Note) -> String {
    let mut out = String::with_capacity(USUAL);
    // Writing to a String cannot fail.
    let _ = compose(note, &mut out);
    out
}

fn compose(note: &Note, out: &mut String) -> fmt::Result {
    let finding = &note.finding;
    let tool = note.tool.as_deref();
    write!(out, "[microloop #{}] ", note.serial)?;
    headline(finding.action, tool, out)?;
    let general = || tool.and_then(|tool| tool.messages.get(finding.reason.code()));
    if let Some(message) = finding.message.as_ref().or_else(general) {
        return out.write_str(&fill(message, tool, finding));
    }
    what(finding, out)?;
    write!(out, " {}", instead(finding, note.serial))
}

fn headline(action: Action, tool: Option<&Tool>, out: &mut String) -> fmt::Result {
    if action == Action::Allow || action == Action::Warn {
        out.write_str("Advice on ")?;
    }
    name(tool, out)?;
    out.write_str(match action {
        Action::Allow | Action::Warn => ": ",
        Action::Ask => " needs approval: ",
        Action::Block => " was refused: ",
        Action::Halt => " was refused and this run is halted: ",
    })
}

fn name(tool: Option<&Tool>, out: &mut String) -> fmt::Result {
    let name = tool.map_or("the assistant", |tool| tool.name.as_str());
    name.chars().filter(|letter| !letter.is_control()).take(LONGEST_NAME).try_for_each(|letter| out.write_char(letter))
}

fn fill(message: &str, tool: Option<&Tool>, finding: &Finding) -> String {
    let number = |n: Option<u64>| n.map_or_else(String::new, |n| format!("{}", finding.amount(n)));
    let mut shown = String::new();
    let _ = name(tool, &mut shown);
    message
        .replace("{tool}", &shown)
        .replace("{seen}", &number(finding.seen))
        .replace("{limit}", &number(finding.limit))
}

/// What happened, and which limit.
fn what(finding: &Finding, out: &mut String) -> fmt::Result {
    let seen = finding.seen.unwrap_or_default();
    let limit = finding.limit.unwrap_or_default();
    let detail = finding.detail.as_deref().unwrap_or_default();
    match finding.reason {
        Reason::Repeat => {
            write!(
                out,
                "call number {seen} with the same arguments, and the result is the same each time (limit {limit})."
            )
        }
        Reason::Cycle => {
            write!(out, "round {seen} of the same sequence of calls with the same results (limit {limit}).")
        }
        Reason::Retry if finding.rule.ends_with("backoff") => {
            write!(out, "it failed and is tried again after {seen} ms; the policy asks for {limit} ms.")
        }
        Reason::Retry => write!(out, "attempt number {seen} of a call that keeps failing (limit {limit})."),
        Reason::Poll => write!(out, "polled again after {seen} ms; its interval is {limit} ms."),
        Reason::Error => {
            write!(out, "the same error {} times in a row (limit {limit}).", seen.saturating_sub(1))?;
            if detail.is_empty() { Ok(()) } else { write!(out, " {detail}") }
        }
        Reason::Near => {
            write!(out, "call number {seen} that says nearly the same and gets the same result (limit {limit}).")
        }
        Reason::Stall => write!(out, "{} different calls in a row gave the same result.", seen.saturating_sub(1)),
        Reason::Text => write!(out, "turn number {seen} that is empty or repeats the last one (limit {limit})."),
        Reason::Refused => write!(out, "refusal number {seen} in a row (limit {limit})."),
        Reason::Size => write!(out, "the arguments have {seen} bytes (limit {limit})."),
        Reason::BudgetCalls => write!(out, "the budget of {limit} calls is spent."),
        Reason::BudgetTool => write!(out, "its budget of {limit} calls is spent."),
        Reason::BudgetRate => write!(out, "more than {limit} calls in a minute."),
        Reason::BudgetTime => write!(out, "the time budget of {} s is spent.", limit / 1000),
        Reason::BudgetTokens => model_budget(finding, "", " tokens", out),
        Reason::BudgetUsd => model_budget(finding, "$", "", out),
        Reason::Duplicate => out.write_str("the same call stands twice in one batch; the first one answers both."),
        Reason::Role => out.write_str("this role may not call it."),
        Reason::Malformed
        | Reason::Schema
        | Reason::RuleDeny
        | Reason::RuleRequire
        | Reason::RuleAsk
        | Reason::None => out.write_str(detail),
    }
}

fn model_budget(finding: &Finding, before: &str, after: &str, out: &mut String) -> fmt::Result {
    let limit = finding.limit.unwrap_or_default();
    if finding.action == Action::Halt {
        return write!(out, "the budget of {before}{}{after} is spent.", finding.amount(limit));
    }
    let left = finding.amount(limit.saturating_sub(finding.seen.unwrap_or_default()));
    write!(out, "the budget for tools is spent; {before}{left}{after} are left for your answer.")
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
        Reason::RuleAsk => return "Go on with something else until it is given.",
        Reason::Role | Reason::RuleDeny | Reason::RuleRequire => FORBIDDEN,
        Reason::BudgetTokens | Reason::BudgetUsd if finding.action == Action::Block => {
            return "Give your final answer now, without another call.";
        }
        Reason::BudgetCalls | Reason::BudgetTool | Reason::BudgetTime | Reason::BudgetTokens | Reason::BudgetUsd => {
            SPENT
        }
        Reason::BudgetRate | Reason::Poll => WAIT,
        Reason::Duplicate => return "Do not send it again.",
    };
    let turn = usize::try_from(serial).unwrap_or_default().checked_rem(choices.len()).unwrap_or_default();
    choices.get(turn).copied().unwrap_or_default()
}
