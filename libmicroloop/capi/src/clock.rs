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

/// Milliseconds since an origin that all sessions share, because children share budgets with their parents.
///
/// The coarse clock is a few milliseconds behind at most, which no limit in a policy is finer than, and a check asks for
/// the time every time: it takes 5 ns of it instead of 25.
#[cfg(all(feature = "std", target_os = "linux"))]
fn system_ms() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` takes a write; the clock is there on every Linux that Rust runs on, and without it the time stays 0.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC_COARSE, &raw mut now) };
    let (seconds, nanoseconds) = (u64::try_from(now.tv_sec), u64::try_from(now.tv_nsec));
    seconds.unwrap_or(0).saturating_mul(1_000).saturating_add(nanoseconds.unwrap_or(0) / 1_000_000)
}

#[cfg(all(feature = "std", not(target_os = "linux")))]
fn system_ms() -> u64 {
    static ORIGIN: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    let elapsed = ORIGIN.get_or_init(std::time::Instant::now).elapsed();
    u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(not(feature = "std"))]
const fn system_ms() -> u64 {
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hosts_time_begins_where_the_systems_was_and_never_goes_back() {
        let mut clock = Clock::System;
        let before = clock.now_ms();
        clock.set(500);
        let begin = clock.now_ms();
        assert!(begin >= before);
        clock.set(400);
        assert_eq!(clock.now_ms(), begin);
        clock.set(600);
        assert_eq!(clock.now_ms(), begin + 100);
    }

    #[cfg(feature = "std")]
    #[test]
    fn the_systems_time_goes_on() {
        let before = Clock::System.now_ms();
        std::thread::sleep(std::time::Duration::from_millis(60));
        let passed = Clock::System.now_ms().saturating_sub(before);
        assert!((30..10_000).contains(&passed), "{passed} ms passed in 60");
    }
}
