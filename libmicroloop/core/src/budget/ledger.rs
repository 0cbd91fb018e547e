//! What one session has spent. A call is charged to the session and to all those above it, or to none.

mod balance;

use alloc::sync::Arc;
use core::iter;

use serde::{Deserialize, Serialize};
use spin::{Mutex, MutexGuard};

use super::{BudgetKind, BudgetRefusal, Budgets, Spending, minute::Minute, tools::ToolAccounts};
use crate::policy::{Limit, Tool};
pub(crate) use balance::Balance;

/// The account of a session. Sessions below it, perhaps in other threads, charge it too.
#[derive(Debug)]
pub struct Ledger {
    budgets: Budgets,
    started_ms: u64,
    parent: Option<Arc<Ledger>>,
    spent: Mutex<Spent>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Spent {
    calls: u64,
    minute: Minute,
    tools: ToolAccounts,
    model: Spending,
    /// The latest time that was seen: clocks of sessions may differ, time here does not go back.
    now_ms: u64,
}

impl Ledger {
    /// Opens an account. Nothing is spent yet.
    #[must_use]
    pub fn new(budgets: &Budgets, parent: Option<Arc<Self>>, started_ms: u64) -> Self {
        let spent = Mutex::new(Spent { now_ms: started_ms, ..Spent::default() });
        Self { budgets: *budgets, started_ms, parent, spent }
    }

    /// Charges one call of a tool to this account and all above it. The limit of the tool counts in this one only.
    ///
    /// # Errors
    /// The limit that refuses the call; nothing is charged then. A limit that ends the run comes before one that lifts.
    pub fn charge(&self, tool: &Tool, tool_index: u32, now_ms: u64) -> Result<(), BudgetRefusal> {
        let mut limit = tool.limit.map(|limit| (tool_index, limit));
        for (charged, ledger) in self.lineage().enumerate() {
            if let Err(refusal) = ledger.take(limit.take(), now_ms) {
                // Just charged, so it is the newest call of each account.
                self.give_back(charged, tool_index, u64::MAX);
                return Err(self.exhausted(now_ms).unwrap_or(refusal));
            }
        }
        Ok(())
    }

    /// Takes back a call that was charged at `charged_ms` and did not run.
    pub fn refund(&self, tool_index: u32, charged_ms: u64) {
        self.give_back(usize::MAX, tool_index, charged_ms);
    }

    /// Adds what the model has spent to this account and all above it.
    ///
    /// # Errors
    /// The first budget that is spent to the end.
    pub fn spend(&self, spending: Spending) -> Result<(), BudgetRefusal> {
        self.lineage().for_each(|ledger| ledger.spent.lock().model.add(spending));
        self.lineage().try_for_each(|ledger| ledger.budgets.model.check_end(ledger.spending()))
    }

    /// What the model has spent in this session and those below it.
    #[must_use]
    pub fn spending(&self) -> Spending {
        self.spent.lock().model
    }

    /// How many calls were charged to this account, those of the sessions below it included.
    #[must_use]
    pub fn spent(&self) -> u64 {
        self.spent.lock().calls
    }

    /// This account and those above it.
    fn lineage(&self) -> impl Iterator<Item = &Self> {
        iter::successors(Some(self), |ledger| ledger.parent.as_deref())
    }

    /// The first limit in the lineage that ends the run.
    fn exhausted(&self, now_ms: u64) -> Option<BudgetRefusal> {
        self.lineage().find_map(|ledger| ledger.check_final(&ledger.at(now_ms)).err())
    }

    /// The account, with its clock set.
    fn at(&self, now_ms: u64) -> MutexGuard<'_, Spent> {
        let mut spent = self.spent.lock();
        spent.now_ms = spent.now_ms.max(now_ms);
        spent
    }

    fn take(&self, tool: Option<(u32, Limit)>, now_ms: u64) -> Result<(), BudgetRefusal> {
        let mut spent = self.at(now_ms);
        let now_ms = spent.now_ms;
        self.check_final(&spent)?;
        self.budgets.model.check_tools(spent.model)?;
        if let Some(limit) = self.budgets.per_minute {
            spent.minute.check(BudgetKind::Rate, limit, now_ms)?;
        }
        if let Some((index, limit)) = tool {
            spent.tools.take(index, limit, now_ms)?;
        }
        if self.budgets.per_minute.is_some() {
            spent.minute.push(now_ms);
        }
        spent.calls = spent.calls.saturating_add(1);
        Ok(())
    }

    fn check_final(&self, spent: &Spent) -> Result<(), BudgetRefusal> {
        let elapsed_ms = spent.now_ms.saturating_sub(self.started_ms);
        match (self.budgets.wall_ms, self.budgets.calls) {
            (Some(limit), _) if elapsed_ms >= limit => Err(BudgetRefusal::spent(BudgetKind::Time, limit, elapsed_ms)),
            (_, Some(limit)) if spent.calls >= limit => {
                Err(BudgetRefusal::spent(BudgetKind::Calls, limit, spent.calls))
            }
            _ => self.budgets.model.check_end(spent.model),
        }
    }

    /// Takes a call back from the first so many accounts of the lineage.
    fn give_back(&self, accounts: usize, tool_index: u32, charged_ms: u64) {
        for (at, ledger) in self.lineage().take(accounts).enumerate() {
            let mut spent = ledger.spent.lock();
            spent.calls = spent.calls.saturating_sub(1);
            spent.minute.remove(charged_ms);
            if at == 0 {
                spent.tools.give_back(tool_index, charged_ms);
            }
        }
    }
}

impl Drop for Ledger {
    /// One after the other: dropped within each other, a long line of parents would overflow the stack.
    fn drop(&mut self) {
        let mut next = self.parent.take();
        while let Some(mut ledger) = next.and_then(Arc::into_inner) {
            next = ledger.parent.take();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(limit: Option<Limit>) -> Tool {
        Tool { limit, ..Tool::default() }
    }

    fn calls(limit: u64) -> Budgets {
        Budgets { calls: Some(limit), ..Budgets::default() }
    }

    fn per_minute(limit: u32) -> Budgets {
        Budgets { per_minute: Some(limit), ..Budgets::default() }
    }

    fn child(budgets: &Budgets, parent: &Arc<Ledger>) -> Ledger {
        Ledger::new(budgets, Some(Arc::clone(parent)), 0)
    }

    fn kind(result: Result<(), BudgetRefusal>) -> Option<BudgetKind> {
        result.err().map(|refusal| refusal.kind)
    }

    #[test]
    fn calls_are_counted_and_then_refused() {
        let ledger = Ledger::new(&calls(2), None, 0);
        assert_eq!(ledger.charge(&tool(None), 0, 0), Ok(()));
        assert_eq!(ledger.charge(&tool(None), 1, 0), Ok(()));
        assert_eq!(ledger.charge(&tool(None), 0, 0), Err(BudgetRefusal::spent(BudgetKind::Calls, 2, 2)));
        assert_eq!(ledger.spent(), 2);
    }

    #[test]
    fn without_budgets_calls_are_only_counted() {
        let ledger = Ledger::new(&Budgets::default(), None, 0);
        for now_ms in 0..1_000 {
            assert_eq!(ledger.charge(&tool(None), 0, now_ms), Ok(()));
        }
        assert_eq!(ledger.spent(), 1_000);
    }

    #[test]
    fn time_runs_from_the_start_of_the_session() {
        let budgets = Budgets { wall_ms: Some(100), ..Budgets::default() };
        let ledger = Ledger::new(&budgets, None, 1_000);
        assert_eq!(ledger.charge(&tool(None), 0, 1_099), Ok(()));
        assert_eq!(ledger.charge(&tool(None), 0, 1_100), Err(BudgetRefusal::spent(BudgetKind::Time, 100, 100)));
        assert_eq!(kind(ledger.charge(&tool(None), 0, 0)), Some(BudgetKind::Time), "time does not go back");
    }

    #[test]
    fn the_minute_of_a_session_slides() {
        let ledger = Ledger::new(&per_minute(2), None, 0);
        assert_eq!(ledger.charge(&tool(None), 0, 0), Ok(()));
        assert_eq!(ledger.charge(&tool(None), 0, 30_000), Ok(()));
        let refusal = BudgetRefusal { kind: BudgetKind::Rate, limit: 2, seen: 2, retry_after_ms: 20_000 };
        assert_eq!(ledger.charge(&tool(None), 0, 40_000), Err(refusal));
        assert_eq!(ledger.charge(&tool(None), 0, 60_000), Ok(()));
        assert_eq!(kind(ledger.charge(&tool(None), 0, 60_000)), Some(BudgetKind::Rate));
    }

    #[test]
    fn a_call_is_charged_to_all_sessions_above() {
        let root = Arc::new(Ledger::new(&calls(3), None, 0));
        let middle = Arc::new(child(&Budgets::default(), &root));
        let (one, other) = (child(&Budgets::default(), &middle), child(&Budgets::default(), &root));
        assert_eq!(one.charge(&tool(None), 0, 0), Ok(()));
        assert_eq!(other.charge(&tool(None), 0, 0), Ok(()));
        assert_eq!(middle.charge(&tool(None), 0, 0), Ok(()));
        assert_eq!(kind(one.charge(&tool(None), 0, 0)), Some(BudgetKind::Calls));
        assert_eq!([root.spent(), middle.spent(), one.spent(), other.spent()], [3, 2, 1, 1]);
    }

    #[test]
    fn a_call_that_is_refused_above_is_charged_nowhere() {
        let root = Arc::new(Ledger::new(&per_minute(1), None, 0));
        let below = child(&per_minute(2), &root);
        let limited = tool(Some(Limit { calls: Some(2), per_minute: Some(2) }));
        assert_eq!(below.charge(&limited, 3, 0), Ok(()));
        for now_ms in 1..50 {
            assert_eq!(kind(below.charge(&limited, 3, now_ms)), Some(BudgetKind::Rate));
        }
        assert_eq!((root.spent(), below.spent()), (1, 1));
        assert_eq!(below.charge(&limited, 3, 60_000), Ok(()), "its own minute and the tool's have room");
        assert_eq!(kind(below.charge(&limited, 3, 120_000)), Some(BudgetKind::Tool));
    }

    #[test]
    fn the_limit_of_a_tool_counts_in_each_session_by_itself() {
        let limited = tool(Some(Limit { calls: Some(1), per_minute: None }));
        let root = Arc::new(Ledger::new(&Budgets::default(), None, 0));
        let (one, other) = (child(&Budgets::default(), &root), child(&Budgets::default(), &root));
        for ledger in [&*root, &one, &other] {
            assert_eq!(ledger.charge(&limited, 0, 0), Ok(()));
            assert_eq!(kind(ledger.charge(&limited, 0, 0)), Some(BudgetKind::Tool));
        }
        assert_eq!(root.spent(), 3);
    }

    #[test]
    fn a_limit_that_ends_the_run_comes_before_one_that_lifts() {
        let root = Arc::new(Ledger::new(&calls(1), None, 0));
        let below = child(&per_minute(1), &root);
        assert_eq!(below.charge(&tool(None), 0, 0), Ok(()));
        assert_eq!(kind(below.charge(&tool(None), 0, 0)), Some(BudgetKind::Calls));
    }

    #[test]
    fn a_refund_gives_everything_back() {
        let root = Arc::new(Ledger::new(&calls(1), None, 0));
        let below = child(&per_minute(1), &root);
        let limited = tool(Some(Limit { calls: Some(1), per_minute: Some(1) }));
        for now_ms in 0..5 {
            assert_eq!(below.charge(&limited, 0, now_ms), Ok(()));
            below.refund(0, now_ms);
        }
        assert_eq!((root.spent(), below.spent()), (0, 0));
    }

    #[test]
    fn the_clock_of_a_session_below_does_not_turn_back_the_one_above() {
        let budgets = Budgets { wall_ms: Some(1_000), ..per_minute(2) };
        let root = Arc::new(Ledger::new(&budgets, None, 5_000));
        let below = child(&Budgets::default(), &root);
        assert_eq!(root.charge(&tool(None), 0, 5_999), Ok(()));
        assert_eq!(below.charge(&tool(None), 0, 3), Ok(()));
        assert_eq!(kind(below.charge(&tool(None), 0, 4)), Some(BudgetKind::Rate));
    }

    #[test]
    fn a_long_line_of_sessions_overflows_nothing() {
        let mut ledger = Arc::new(Ledger::new(&Budgets::default(), None, 0));
        for _ in 0..200_000 {
            ledger = Arc::new(child(&Budgets::default(), &ledger));
        }
        assert_eq!(ledger.charge(&tool(None), 0, 0), Ok(()));
        drop(ledger);
    }
}
