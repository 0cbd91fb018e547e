//! An account on its way to another process.

use serde::{Deserialize, Serialize};
use spin::Mutex;

use super::{Budgets, Ledger, Spent};

/// What an account is saved as.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Balance {
    started_ms: u64,
    spent: Spent,
}

impl Ledger {
    /// What to save; none for an account below another, which would be charged no more.
    pub(crate) fn balance(&self) -> Option<Balance> {
        let saved = || Balance { started_ms: self.started_ms, spent: self.spent.lock().clone() };
        self.parent.is_none().then(saved)
    }

    /// Opens a saved account again.
    pub(crate) fn reopen(budgets: &Budgets, Balance { started_ms, spent }: Balance) -> Self {
        Self { budgets: *budgets, started_ms, parent: None, spent: Mutex::new(spent) }
    }
}
