//! What was spent on each tool that has a limit of its own.

use alloc::{boxed::Box, vec::Vec};

use serde::{Deserialize, Serialize};

use super::{BudgetKind, BudgetRefusal, minute::Minute};
use crate::policy::Limit;

/// More than the tools that a session can meet, declared or not.
const MAX_TOOLS: u32 = 8192;

/// By the index of the tool. Tools without a limit have no account.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct ToolAccounts(Vec<Option<Box<Account>>>);

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Account {
    calls: u64,
    minute: Minute,
}

impl ToolAccounts {
    /// Charges a call, if the limit of the tool lets it through.
    pub(super) fn take(&mut self, index: u32, limit: Limit, now_ms: u64) -> Result<(), BudgetRefusal> {
        let none_left = BudgetRefusal::spent(BudgetKind::Tool, u64::from(MAX_TOOLS), u64::from(index));
        self.account(index).ok_or(none_left)?.take(limit, now_ms)
    }

    pub(super) fn give_back(&mut self, index: u32, charged_ms: u64) {
        let slot = usize::try_from(index).ok().and_then(|index| self.0.get_mut(index));
        if let Some(Some(account)) = slot {
            account.calls = account.calls.saturating_sub(1);
            account.minute.remove(charged_ms);
        }
    }

    fn account(&mut self, index: u32) -> Option<&mut Account> {
        let at = usize::try_from(index).ok().filter(|_| index < MAX_TOOLS)?;
        if self.0.len() <= at {
            self.0.resize_with(at.saturating_add(1), || None);
        }
        self.0.get_mut(at).map(|slot| &mut **slot.get_or_insert_default())
    }
}

impl Account {
    fn take(&mut self, limit: Limit, now_ms: u64) -> Result<(), BudgetRefusal> {
        if let Some(most) = limit.calls.filter(|most| self.calls >= *most) {
            return Err(BudgetRefusal::spent(BudgetKind::Tool, most, self.calls));
        }
        if let Some(most) = limit.per_minute {
            self.minute.check(BudgetKind::ToolRate, most, now_ms)?;
            self.minute.push(now_ms);
        }
        self.calls = self.calls.saturating_add(1);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const THREE: Limit = Limit { calls: Some(3), per_minute: None };

    #[test]
    fn each_tool_has_an_account_of_its_own() {
        let mut tools = ToolAccounts::default();
        for _ in 0..3 {
            assert_eq!(tools.take(7, THREE, 0), Ok(()));
        }
        assert_eq!(tools.take(7, THREE, 0), Err(BudgetRefusal::spent(BudgetKind::Tool, 3, 3)));
        assert_eq!(tools.take(8, THREE, 0), Ok(()));
    }

    #[test]
    fn a_call_that_is_given_back_can_be_made_again() {
        let mut tools = ToolAccounts::default();
        let limit = Limit { calls: Some(1), per_minute: Some(1) };
        assert_eq!(tools.take(0, limit, 5), Ok(()));
        tools.give_back(0, 5);
        tools.give_back(9, 5);
        assert_eq!(tools.take(0, limit, 6), Ok(()));
        assert!(tools.take(0, limit, 6).is_err());
    }

    #[test]
    fn the_rate_of_a_tool_slides() {
        let mut tools = ToolAccounts::default();
        let limit = Limit { calls: None, per_minute: Some(1) };
        assert_eq!(tools.take(0, limit, 0), Ok(()));
        let refusal = BudgetRefusal { kind: BudgetKind::ToolRate, limit: 1, seen: 1, retry_after_ms: 1 };
        assert_eq!(tools.take(0, limit, 59_999), Err(refusal));
        assert_eq!(tools.take(0, limit, 60_000), Ok(()));
    }

    #[test]
    fn an_index_beyond_the_table_is_refused() {
        let mut tools = ToolAccounts::default();
        assert!(tools.take(MAX_TOOLS - 1, THREE, 0).is_ok());
        assert!(tools.take(MAX_TOOLS, THREE, 0).is_err());
        assert!(tools.0.len() <= 8_192);
    }
}
