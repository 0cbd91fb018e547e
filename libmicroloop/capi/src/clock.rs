//! What time it is for a session.

use serde::{Deserialize, Serialize};

/// Where a session's milliseconds come from.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Clock {
    /// The system's monotonic clock, so far `ahead`. Without std there is none, and it stands still.
    System { ahead: u64 },
    /// The host keeps it, by `microloop_session_time`. Its origin may be any; `offset` goes from there to the origin of the
    /// system's, which the session began with and its budgets are measured by.
    Host { now_ms: u64, offset: u64 },
}

/// A clock on its way to another process.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) enum SavedClock {
    System { now_ms: u64, wall_ms: u64 },
    Host { now_ms: u64, offset: u64 },
}

impl Clock {
    /// The clock of a new session.
    pub(crate) const SYSTEM: Self = Self::System { ahead: 0 };

    pub(crate) fn now_ms(self) -> u64 {
        match self {
            Self::System { ahead } => system_ms().wrapping_add(ahead),
            Self::Host { now_ms, offset } => now_ms.wrapping_add(offset),
        }
    }

    /// The host says what time it is. Time never goes back: intervals and budgets are measured by it.
    pub(crate) fn set(&mut self, now_ms: u64) {
        *self = match *self {
            Self::System { .. } => Self::Host { now_ms, offset: self.now_ms().wrapping_sub(now_ms) },
            Self::Host { now_ms: before, offset } => Self::Host { now_ms: before.max(now_ms), offset },
        };
    }

    pub(crate) fn saved(self) -> SavedClock {
        match self {
            Self::System { .. } => SavedClock::System { now_ms: self.now_ms(), wall_ms: wall_ms() },
            Self::Host { now_ms, offset } => SavedClock::Host { now_ms, offset },
        }
    }

    /// Goes on from a saved clock. The monotonic clock of another process, or before a reboot, had another origin; how long
    /// ago that was is what the wall clock says, unless it was set back since.
    pub(crate) fn resumed(saved: SavedClock) -> Self {
        match saved {
            SavedClock::System { now_ms, wall_ms: before } => {
                let now_ms = now_ms.saturating_add(wall_ms().saturating_sub(before));
                Self::System { ahead: now_ms.wrapping_sub(system_ms()) }
            }
            SavedClock::Host { now_ms, offset } => Self::Host { now_ms, offset },
        }
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

/// Milliseconds since 1970.
#[cfg(feature = "std")]
fn wall_ms() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

#[cfg(not(feature = "std"))]
const fn wall_ms() -> u64 {
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hosts_time_begins_where_the_systems_was_and_never_goes_back() {
        let mut clock = Clock::SYSTEM;
        let before = clock.now_ms();
        clock.set(500);
        let begin = clock.now_ms();
        assert!(begin >= before);
        clock.set(400);
        assert_eq!(clock.now_ms(), begin);
        clock.set(600);
        assert_eq!(clock.now_ms(), begin + 100);
    }

    #[test]
    fn a_hosts_clock_is_resumed_where_it_stood() {
        let mut clock = Clock::SYSTEM;
        clock.set(500);
        assert_eq!(Clock::resumed(clock.saved()).now_ms(), clock.now_ms());
    }

    #[cfg(feature = "std")]
    #[test]
    fn the_time_between_two_processes_is_what_the_wall_clock_says() {
        let saved = |ago_ms: u64| SavedClock::System { now_ms: 7_000, wall_ms: wall_ms() - ago_ms };
        let resumed = Clock::resumed(saved(60_000)).now_ms();
        assert!((67_000..68_000).contains(&resumed), "{resumed}");
    }

    #[cfg(feature = "std")]
    #[test]
    fn a_wall_clock_that_was_set_back_does_not_turn_back_a_session() {
        let saved = SavedClock::System { now_ms: 7_000, wall_ms: wall_ms() + 3_600_000 };
        let resumed = Clock::resumed(saved).now_ms();
        assert!((7_000..8_000).contains(&resumed), "{resumed}");
    }

    #[cfg(feature = "std")]
    #[test]
    fn the_systems_time_goes_on() {
        let before = Clock::SYSTEM.now_ms();
        std::thread::sleep(std::time::Duration::from_millis(60));
        let passed = Clock::SYSTEM.now_ms().saturating_sub(before);
        assert!((30..10_000).contains(&passed), "{passed} ms passed in 60");
    }
}
