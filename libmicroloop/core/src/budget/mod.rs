//! What a session may spend: calls, calls of one tool, calls in a minute, time, and what the model costs.

mod ledger;
mod minute;
mod model;
mod tools;

pub(crate) use ledger::Balance;
pub use ledger::Ledger;
pub use model::{Allowance, ModelBudgets, Spending};

use crate::policy::{PolicyError, document::BudgetsDocument, strict::Section};

/// The largest limit a minute: each call within it is remembered by its time.
pub const MAX_PER_MINUTE: u32 = 10_000;

/// What a session may spend in all. What is `None` has no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Budgets {
    /// Calls
    pub calls: Option<u64>,
    /// Calls in any sixty seconds, at most [`MAX_PER_MINUTE`]
    pub per_minute: Option<u32>,
    /// Milliseconds from the start of the session
    pub wall_ms: Option<u64>,
    /// Tokens and money
    pub model: ModelBudgets,
}

/// Which limit refused a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BudgetKind {
    /// The calls of the session
    Calls,
    /// The calls of this tool
    Tool,
    /// The calls of the session in a minute
    Rate,
    /// The calls of this tool in a minute
    ToolRate,
    /// The time of the session
    Time,
    /// The tokens of the session
    Tokens,
    /// The money of the session
    Usd,
    /// The tokens that are not kept for the answer
    ToolTokens,
    /// The money that is not kept for the answer
    ToolUsd,
}

/// Why a call was not charged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BudgetRefusal {
    /// Which limit
    pub kind: BudgetKind,
    /// Calls, milliseconds for `Time`, tokens, or billionths of a dollar
    pub limit: u64,
    /// What was spent before this call, in the same unit
    pub seen: u64,
    /// When a call can get through again; 0 if waiting does not help
    pub retry_after_ms: u64,
}

impl BudgetRefusal {
    fn spent(kind: BudgetKind, limit: u64, seen: u64) -> Self {
        Self { kind, limit, seen, retry_after_ms: 0 }
    }
}

impl Budgets {
    /// Reads the section; the errors begin with the key in it.
    pub(crate) fn read(Section(document): Section<BudgetsDocument>) -> Result<Self, PolicyError> {
        let BudgetsDocument { calls, per_minute, wall_time, tokens, usd, wrap_up } = document;
        check_limits(calls, per_minute)?;
        let wall_ms = wall_time.map(|time| time.ms);
        if wall_ms == Some(0) {
            return Err(PolicyError::invalid("wall_time", "it is zero, no call could run: write a longer time"));
        }
        let model = ModelBudgets::read(tokens, usd, wrap_up)?;
        Ok(Self { calls, per_minute, wall_ms, model })
    }
}

/// Whether limits can be kept; the errors begin with the key.
pub(crate) fn check_limits(calls: Option<u64>, per_minute: Option<u32>) -> Result<(), PolicyError> {
    let refuses_all = "0 refuses every call: write 1 or more, or forbid the tool with roles";
    match (calls, per_minute) {
        (Some(0), _) => Err(PolicyError::invalid("calls", refuses_all)),
        (_, Some(0)) => Err(PolicyError::invalid("per_minute", refuses_all)),
        (_, Some(limit)) if limit > MAX_PER_MINUTE => {
            let what =
                alloc::format!("{limit} is more than {MAX_PER_MINUTE}: write that or less, or limit calls instead");
            Err(PolicyError::invalid("per_minute", what))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]

    use alloc::string::{String, ToString};

    use super::*;

    fn budgets(json: &str) -> Result<Budgets, String> {
        Budgets::read(serde_json::from_str(json).unwrap()).map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_absent_or_null_has_no_limit() {
        assert_eq!(budgets("{}"), Ok(Budgets::default()));
        assert_eq!(budgets(r#"{"calls": null, "wall_time": null}"#), Ok(Budgets::default()));
        let model = ModelBudgets {
            tokens: Some(Allowance { limit: 1_000, tools: 800 }),
            nano_usd: Some(Allowance { limit: 500_000_000, tools: 400_000_000 }),
        };
        let all = Budgets { calls: Some(100), per_minute: Some(30), wall_ms: Some(600_000), model };
        let json =
            r#"{"calls": 100, "per_minute": 30, "wall_time": "10m", "tokens": 1000, "usd": 0.5, "wrap_up": 0.2}"#;
        assert_eq!(budgets(json), Ok(all));
    }

    #[test]
    fn a_limit_that_cannot_be_kept_is_an_error() {
        assert!(budgets(r#"{"per_minute": 10001}"#).unwrap_err().starts_with("per_minute: 10001 is more than 10000"));
        assert!(budgets(r#"{"per_minute": 0}"#).unwrap_err().starts_with("per_minute: 0 refuses"));
        assert!(budgets(r#"{"calls": 0}"#).unwrap_err().starts_with("calls: 0 refuses"));
        assert!(budgets(r#"{"wall_time": 0}"#).unwrap_err().starts_with("wall_time: "));
        assert!(budgets(r#"{"tokens": 0}"#).unwrap_err().starts_with("tokens: 0 halts"));
        for usd in ["0", "-1", "1e-10", "1000000001"] {
            assert!(budgets(&alloc::format!(r#"{{"usd": {usd}}}"#)).unwrap_err().starts_with("usd: "), "{usd}");
        }
        for wrap_up in ["-0.1", "0.51", "1"] {
            let error = budgets(&alloc::format!(r#"{{"wrap_up": {wrap_up}}}"#)).unwrap_err();
            assert!(error.starts_with("wrap_up: ") && error.contains("from 0 to 0.5"), "{error}");
        }
    }
}
