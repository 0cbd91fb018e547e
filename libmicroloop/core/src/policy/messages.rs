//! The texts that a policy gives to reasons.

use alloc::{collections::BTreeMap, string::String};

use super::{PolicyError, error::quoted, strict::Table};
use crate::verdict::Reason;

/// The reasons that can carry a text.
const REASONS: [Reason; 23] = [
    Reason::Repeat,
    Reason::Cycle,
    Reason::Retry,
    Reason::Poll,
    Reason::Error,
    Reason::Near,
    Reason::Stall,
    Reason::Text,
    Reason::Refused,
    Reason::Malformed,
    Reason::Size,
    Reason::Schema,
    Reason::Role,
    Reason::RuleDeny,
    Reason::RuleRequire,
    Reason::RuleAsk,
    Reason::BudgetCalls,
    Reason::BudgetTool,
    Reason::BudgetRate,
    Reason::BudgetTime,
    Reason::BudgetTokens,
    Reason::BudgetUsd,
    Reason::Duplicate,
];

/// A fault in the guard itself; the host's code makes that verdict, not the core.
const FAULT: &str = "guard.fault";

/// The texts, by reason.
pub(crate) fn read(Table(messages): Table<String>) -> Result<BTreeMap<String, String>, PolicyError> {
    match messages.keys().find(|code| !is_reason(code)) {
        None => Ok(messages),
        Some(code) => Err(PolicyError::invalid("messages", what_is_wrong(code))),
    }
}

fn is_reason(code: &str) -> bool {
    code == FAULT || REASONS.iter().any(|reason| reason.code() == code)
}

fn what_is_wrong(code: &str) -> String {
    let mut text = alloc::format!("{} is no reason: write one of {FAULT}", quoted(code));
    for reason in REASONS {
        text.push_str(", ");
        text.push_str(reason.code());
    }
    text
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]

    use super::*;

    fn read_json(json: &str) -> Result<BTreeMap<String, String>, PolicyError> {
        read(serde_json::from_str(json).unwrap())
    }

    #[test]
    fn a_text_belongs_to_a_reason() {
        let messages = read_json(r#"{"loop.repeat": "Stop.", "guard.fault": "Sorry."}"#).unwrap();
        assert_eq!(messages.get("loop.repeat").map(String::as_str), Some("Stop."));
    }

    #[test]
    fn an_unknown_reason_is_an_error_that_lists_the_known_ones() {
        let error = read_json(r#"{"loop.repeated": "Stop."}"#).unwrap_err();
        assert!(error.message.starts_with("messages: \"loop.repeated\" is no reason"), "{error}");
        assert!(error.message.contains("loop.repeat, loop.cycle"), "{error}");
    }
}
