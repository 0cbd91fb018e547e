//! The one lock of this crate: the system's mutex with std, a spinning one without.

#[cfg(feature = "std")]
use std::sync::{Mutex, MutexGuard, PoisonError};

#[cfg(not(feature = "std"))]
use spin::{Mutex, MutexGuard};

#[derive(Debug, Default)]
pub(crate) struct Lock<T>(Mutex<T>);

impl<T> Lock<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(Mutex::new(value))
    }

    /// Waits for the lock.
    ///
    /// A thread that panicked while holding it was already told so with `MICROLOOP_PANIC`. What it held is still a valid
    /// value, and to refuse it from now on would turn one odd call into a dead session.
    #[cfg(feature = "std")]
    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the lock.
    #[cfg(not(feature = "std"))]
    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock()
    }
}
