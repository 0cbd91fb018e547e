//! How long a run has been getting nowhere. It takes more than one new thing to end a stall.

use serde::{Deserialize, Serialize};

/// What one step says about the run, the weightier the later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sign {
    /// Nothing to go by
    Neutral,
    /// Something new came back.
    Novel,
    /// The loop detectors would warn, or a check does not move.
    Suspect,
    /// The loop detectors would refuse, or a check has not moved for long.
    Stuck,
    /// A check says that things are better than ever.
    Verified,
}

/// Where the pressure stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub(super) enum Level {
    #[default]
    Calm,
    Warning,
    Stalled,
}

/// New things in a row that end a warning, and a stall.
const ENDS_WARNING: u32 = 2;
const ENDS_STALL: u32 = 3;
/// Suspicions that make a stall, whatever the policy would refuse.
const SUSPICIONS: u32 = 5;

/// The level, the suspicions that led there, and the new things in a row since the last of them.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(super) struct Pressure {
    level: Level,
    suspicions: u32,
    novel: u32,
}

impl Pressure {
    pub(super) fn level(self) -> Level {
        self.level
    }

    pub(super) fn take(&mut self, sign: Sign) {
        match sign {
            Sign::Verified => *self = Self::default(),
            Sign::Novel => self.ease(),
            Sign::Neutral => {}
            Sign::Suspect => self.suspect(),
            Sign::Stuck => self.raise(Level::Stalled),
        }
    }

    fn suspect(&mut self) {
        self.suspicions = self.suspicions.saturating_add(1);
        self.raise(if self.suspicions >= SUSPICIONS { Level::Stalled } else { Level::Warning });
    }

    fn raise(&mut self, level: Level) {
        self.level = self.level.max(level);
        self.novel = 0;
    }

    fn ease(&mut self) {
        self.novel = self.novel.saturating_add(1);
        let enough = match self.level {
            Level::Calm => return,
            Level::Warning => ENDS_WARNING,
            Level::Stalled => ENDS_STALL,
        };
        if self.novel >= enough {
            *self = Self::default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Level::*, Sign::*, *};

    fn after(signs: &[Sign]) -> Level {
        let mut pressure = Pressure::default();
        for sign in signs {
            pressure.take(*sign);
        }
        pressure.level()
    }

    #[test]
    fn one_new_thing_does_not_end_a_stall_and_three_in_a_row_do() {
        assert_eq!(after(&[Stuck, Novel]), Stalled);
        assert_eq!(after(&[Stuck, Novel, Novel, Suspect, Novel, Novel]), Stalled);
        assert_eq!(after(&[Stuck, Novel, Novel, Novel]), Calm);
    }

    #[test]
    fn a_check_that_says_better_ends_it_at_once() {
        assert_eq!(after(&[Stuck, Verified]), Calm);
    }

    #[test]
    fn what_says_nothing_changes_nothing() {
        assert_eq!(after(&[Suspect, Neutral, Neutral, Neutral]), Warning);
        assert_eq!(after(&[Neutral, Novel, Novel]), Calm);
    }

    #[test]
    fn suspicion_upon_suspicion_is_a_stall_unless_the_run_recovers_in_between() {
        assert_eq!(after(&[Suspect, Novel, Suspect, Suspect, Neutral, Suspect]), Warning);
        assert_eq!(after(&[Suspect, Novel, Suspect, Suspect, Neutral, Suspect, Suspect]), Stalled);
        assert_eq!(after(&[Suspect, Suspect, Suspect, Suspect, Novel, Novel, Suspect]), Warning);
    }
}
