//! What the model itself may spend: tokens and money. The last part of each is kept for the answer.

use alloc::format;

use serde::{Deserialize, Serialize};

use super::{BudgetKind, BudgetRefusal};
use crate::{amount::NANO, policy::PolicyError};

/// How finely a share is told: whole millionths, so that a budget is divided without rounding errors.
const MILLION: u64 = 1_000_000;

/// The share that is kept for the answer, if the policy says nothing.
const WRAP_UP: f64 = 0.1;

/// What the model has spent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spending {
    /// Tokens, of whatever kind the host counts
    pub tokens: u64,
    /// Billionths of a dollar
    pub nano_usd: u64,
}

/// A budget of tokens or of money.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    /// Where the run ends
    pub limit: u64,
    /// From here on tools are refused: what is left is for the answer
    pub tools: u64,
}

/// What the model may spend in all. What is `None` has no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ModelBudgets {
    /// Tokens
    pub tokens: Option<Allowance>,
    /// Billionths of a dollar
    pub nano_usd: Option<Allowance>,
}

impl Spending {
    pub(super) fn add(&mut self, more: Self) {
        self.tokens = self.tokens.saturating_add(more.tokens);
        self.nano_usd = self.nano_usd.saturating_add(more.nano_usd);
    }
}

impl Allowance {
    fn new(limit: u64, kept_millionths: u64) -> Self {
        // In two parts, so that no product overflows.
        let kept = limit / MILLION * kept_millionths + limit % MILLION * kept_millionths / MILLION;
        Self { limit, tools: limit.saturating_sub(kept) }
    }
}

impl ModelBudgets {
    /// Reads its part of the section; the errors begin with the key.
    pub(super) fn read(tokens: Option<u64>, usd: Option<f64>, wrap_up: Option<f64>) -> Result<Self, PolicyError> {
        let kept = millionths(wrap_up.unwrap_or(WRAP_UP))?;
        let nano_usd = usd.map(nano).transpose()?;
        if tokens == Some(0) {
            return Err(PolicyError::invalid("tokens", "0 halts every run: write 1 or more, or leave it out"));
        }
        let allowance = |limit| Allowance::new(limit, kept);
        Ok(Self { tokens: tokens.map(allowance), nano_usd: nano_usd.map(allowance) })
    }

    /// Refuses when a budget is spent to the end.
    pub(super) fn check_end(&self, spent: Spending) -> Result<(), BudgetRefusal> {
        match (self.tokens, self.nano_usd) {
            (Some(tokens), _) if spent.tokens >= tokens.limit => {
                Err(BudgetRefusal::spent(BudgetKind::Tokens, tokens.limit, spent.tokens))
            }
            (_, Some(usd)) if spent.nano_usd >= usd.limit => {
                Err(BudgetRefusal::spent(BudgetKind::Usd, usd.limit, spent.nano_usd))
            }
            _ => Ok(()),
        }
    }

    /// Refuses a call when what is left is for the answer.
    pub(super) fn check_tools(&self, spent: Spending) -> Result<(), BudgetRefusal> {
        match (self.tokens, self.nano_usd) {
            (Some(tokens), _) if spent.tokens >= tokens.tools => {
                Err(BudgetRefusal::spent(BudgetKind::ToolTokens, tokens.limit, spent.tokens))
            }
            (_, Some(usd)) if spent.nano_usd >= usd.tools => {
                Err(BudgetRefusal::spent(BudgetKind::ToolUsd, usd.limit, spent.nano_usd))
            }
            _ => Ok(()),
        }
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked first to be from 0 to 0.5")]
#[expect(clippy::cast_precision_loss, reason = "a million is exact")]
fn millionths(share: f64) -> Result<u64, PolicyError> {
    if !(0.0..=0.5).contains(&share) {
        let what = format!("{share} is not from 0 to 0.5: write the share of the budget that is kept for the answer");
        return Err(PolicyError::invalid("wrap_up", what));
    }
    Ok((share * MILLION as f64 + 0.5) as u64)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked first to be from 1e-9 to 1e9")]
#[expect(clippy::cast_precision_loss, reason = "a billion is exact")]
fn nano(usd: f64) -> Result<u64, PolicyError> {
    if !(1e-9..=1e9).contains(&usd) {
        let what = format!("{usd} is not from 0.000000001 to 1000000000: write what a run may cost in dollars");
        return Err(PolicyError::invalid("usd", what));
    }
    Ok((usd * NANO as f64 + 0.5) as u64)
}

#[cfg(test)]
mod tests {
    use alloc::sync::Arc;

    use super::*;
    use crate::{
        budget::{Budgets, Ledger},
        policy::Tool,
    };

    fn tokens(limit: u64, wrap_up: f64) -> ModelBudgets {
        ModelBudgets::read(Some(limit), None, Some(wrap_up)).unwrap_or_default()
    }

    fn ledger(model: ModelBudgets, parent: Option<&Arc<Ledger>>) -> Arc<Ledger> {
        Arc::new(Ledger::new(&Budgets { model, ..Budgets::default() }, parent.map(Arc::clone), 0))
    }

    fn of_tokens(tokens: u64) -> Spending {
        Spending { tokens, nano_usd: 0 }
    }

    fn call(ledger: &Ledger) -> Option<BudgetKind> {
        ledger.charge(&Tool::default(), 0, 0).err().map(|refusal| refusal.kind)
    }

    #[test]
    fn a_budget_is_divided_to_the_last_token() {
        for (limit, wrap_up, tools) in [(1, 0.1, 1), (10, 0.1, 9), (100, 0.29, 71), (1_000, 0.0, 1_000), (7, 0.5, 4)] {
            assert_eq!(tokens(limit, wrap_up).tokens, Some(Allowance { limit, tools }));
        }
        let most = tokens(u64::MAX, 0.5).tokens.map(|allowance| allowance.tools);
        assert_eq!(most, Some(u64::MAX / 2 + 1));
    }

    #[test]
    fn tools_are_refused_before_the_run_ends() {
        let ledger = ledger(tokens(100, 0.1), None);
        assert_eq!(ledger.spend(of_tokens(89)), Ok(()));
        assert_eq!(call(&ledger), None);
        assert_eq!(ledger.spend(of_tokens(1)), Ok(()), "the answer may still be paid for");
        assert_eq!(call(&ledger), Some(BudgetKind::ToolTokens));
        assert_eq!(ledger.spend(of_tokens(10)), Err(BudgetRefusal::spent(BudgetKind::Tokens, 100, 100)));
        assert_eq!(call(&ledger), Some(BudgetKind::Tokens));
        assert_eq!(ledger.spent(), 1, "what is refused is not charged");
    }

    #[test]
    fn money_is_a_budget_of_its_own() {
        let ledger = ledger(ModelBudgets::read(None, Some(0.5), None).unwrap_or_default(), None);
        let spending = |nano_usd| Spending { tokens: 1_000_000, nano_usd };
        assert_eq!(ledger.spend(spending(450_000_000)), Ok(()));
        assert_eq!(call(&ledger), Some(BudgetKind::ToolUsd));
        let refusal = BudgetRefusal::spent(BudgetKind::Usd, 500_000_000, 500_000_000);
        assert_eq!(ledger.spend(spending(50_000_000)), Err(refusal));
    }

    #[test]
    fn spending_is_charged_to_all_sessions_above() {
        let root = ledger(tokens(100, 0.1), None);
        let below = ledger(ModelBudgets::default(), Some(&root));
        assert_eq!(below.spend(of_tokens(95)), Ok(()));
        assert_eq!((below.spending().tokens, root.spending().tokens), (95, 95));
        assert_eq!((call(&below), call(&root)), (Some(BudgetKind::ToolTokens), Some(BudgetKind::ToolTokens)));
        assert_eq!(below.spend(of_tokens(5)), Err(BudgetRefusal::spent(BudgetKind::Tokens, 100, 100)));
        assert_eq!(call(&below), Some(BudgetKind::Tokens), "the end of the run comes before the end of tools");
    }

    #[test]
    fn an_end_above_comes_before_a_wrap_up_below() {
        let root = ledger(tokens(100, 0.1), None);
        let below = ledger(tokens(110, 0.1), Some(&root));
        assert_eq!(below.spend(of_tokens(99)), Ok(()));
        assert_eq!(call(&below), Some(BudgetKind::ToolTokens));
        assert!(root.spend(of_tokens(1)).is_err());
        assert_eq!(call(&below), Some(BudgetKind::Tokens));
    }

    #[test]
    fn a_sum_beyond_all_numbers_stays_at_the_largest() {
        let ledger = ledger(ModelBudgets::default(), None);
        for _ in 0..2 {
            assert_eq!(ledger.spend(Spending { tokens: u64::MAX, nano_usd: u64::MAX }), Ok(()));
        }
        assert_eq!(ledger.spending(), Spending { tokens: u64::MAX, nano_usd: u64::MAX });
    }
}
