//! What time it is for a session.

/// Where a session's milliseconds come from.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Clock {
    /// The system's monotonic clock. Without std there is none, and it stands at 0.
    System,
    /// The host keeps it, by `microloop_session_time`. Its origin may be any; `offset` goes from there to the origin of the
    /// system's, which the session began with and its budgets are measured by.
    Host { now_ms: u64, offset: u64 },
}

impl Clock {
    pub(crate) fn now_ms(self) -> u64 {
        match self {
            Self::System => system_ms(),
            Self::Host { now_ms, offset } => now_ms.wrapping_add(offset),
        }
    }

    /// The host says what time it is. Time never goes back: intervals and budgets are measured by it.
    pub(crate) fn set(&mut self, now_ms: u64) {
        *self = match *self {
            Self::System => Self::Host { now_ms, offset: system_ms().wrapping_sub(now_ms) },
            Self::Host { now_ms: before, offset } => Self::Host { now_ms: before.max(now_ms), offset },
        };
    }
}

/// Milliseconds since the first look at the clock. One origin for all sessions, because children share budgets with
/// their parents.
#[cfg(feature = "std")]
fn system_ms() -> u64 {
    static ORIGIN: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    let elapsed = ORIGIN.get_or_init(std::time::Instant::now).elapsed();
    u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(not(feature = "std"))]
const fn system_ms() -> u64 {
    0
}
