//! Accounts that sessions in several threads charge at the same time.

use std::{sync::Arc, thread};

use microloop_core::{
    budget::{Budgets, Ledger, Spending},
    policy::Tool,
};

const THREADS: u64 = 4;

fn below(root: &Arc<Ledger>, budgets: &Budgets) -> Ledger {
    Ledger::new(budgets, Some(Arc::clone(root)), 0)
}

/// What each thread gives back, in all.
fn in_threads(work: impl Fn() -> u64 + Sync) -> u64 {
    thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(&work)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or_default()).sum()
    })
}

#[test]
fn threads_never_make_more_calls_than_there_are() {
    let root = Arc::new(Ledger::new(&Budgets { calls: Some(1_000), ..Budgets::default() }, None, 0));
    let own = Budgets { per_minute: Some(400), ..Budgets::default() };
    let granted = in_threads(|| {
        let below = below(&root, &own);
        (0..500).map(|_| u64::from(below.charge(&Tool::default(), 0, 0).is_ok())).sum()
    });
    assert_eq!((granted, root.spent()), (1_000, 1_000));
}

#[test]
fn nothing_that_threads_spend_is_lost() {
    let root = Arc::new(Ledger::new(&Budgets::default(), None, 0));
    in_threads(|| {
        let below = below(&root, &Budgets::default());
        (0..500).map(|_| u64::from(below.spend(Spending { tokens: 3, nano_usd: 7 }).is_ok())).sum()
    });
    assert_eq!(root.spending(), Spending { tokens: 6_000, nano_usd: 14_000 });
}
