//! Is the run still getting anywhere?
//!
//! Three sources are weighed after each step: what the loop detectors said of it, whether something new came back, and what
//! the run's own checks say. `docs/explanation/progress.md` is the specification.

mod measures;
mod pressure;
mod reading;
mod runners;
mod verifiers;

use alloc::{boxed::Box, collections::VecDeque};

use serde::{Deserialize, Serialize};

use crate::{
    bounded,
    digest::Digest,
    policy::{self, Reaction},
    verdict::Action,
};
pub use measures::Measures;
use pressure::{Level, Pressure, Sign};
use verifiers::Verifiers;
pub use verifiers::{Movement, Readings};

/// States of the world that are remembered: one that comes back is not new.
const STATES: usize = 16;
/// Assessments that are kept for whoever asks, as many as verdicts are.
const KEPT: usize = 64;

/// Whether a run is getting anywhere. The numbers cross the C ABI and never change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum Status {
    /// It is, or nothing says otherwise.
    #[default]
    Healthy = 0,
    /// It may not be.
    Warning = 1,
    /// It learns nothing new.
    Stalled = 2,
    /// It has lost what it had.
    Regressing = 3,
}

/// A step, as far as progress is concerned.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seen<'s> {
    pub(crate) step: u64,
    pub(crate) call: Digest,
    pub(crate) output: &'s [u8],
    /// What the loop detectors would do, if what came back does not prove them wrong
    pub(crate) loops: Option<Action>,
    /// Whether the call was made before
    pub(crate) known: bool,
    /// Whether it gave what neither it nor the tool's last call had given
    pub(crate) novel: bool,
}

/// Where the run stands after a step.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Assessment {
    /// The step
    pub step: u64,
    /// The status
    pub status: Status,
    /// What the policy asks the host to do now
    pub intervention: Reaction,
    /// The latest step of which the loop detectors had something to say, while it matters
    pub(crate) suspect: Option<u64>,
    /// What a check of the run had to say, while it matters
    pub(crate) check: Option<Box<Movement>>,
    /// Whether a check says that things are better than ever
    pub verified: bool,
}

/// The progress of one session.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Progress {
    verifiers: Verifiers,
    pressure: Pressure,
    #[serde(deserialize_with = "bounded::ring::<_, _, STATES>")]
    states: VecDeque<Digest>,
    latest: Assessment,
    #[serde(deserialize_with = "bounded::ring::<_, _, KEPT>")]
    telling: VecDeque<Assessment>,
    advised: Option<u64>,
}

impl Progress {
    /// The latest assessment.
    pub(crate) fn latest(&self) -> &Assessment {
        &self.latest
    }

    /// The assessment of a step, if it is the latest or one of the last that had something to tell.
    pub(crate) fn of(&self, step: u64) -> Option<&Assessment> {
        if self.latest.step == step {
            Some(&self.latest)
        } else {
            self.telling.iter().rev().find(|one| one.step == step)
        }
    }

    /// Takes a step that has run.
    pub(crate) fn take(&mut self, seen: &Seen<'_>, measures: &Measures, policy: policy::Progress) {
        let check = reading::of(seen, measures).and_then(|reading| self.verifiers.read(reading, seen.step));
        let new_state = measures.state.map(|state| self.is_new(state));
        let sign = of_check(check.as_ref()).max(of_step(seen, new_state));
        self.pressure.take(sign);
        self.conclude(seen.step, seen.loops.is_some(), check, policy);
    }

    /// Takes what a loop detector says of a step that gave nothing back: a refused call, or a turn without one.
    pub(crate) fn found(&mut self, step: u64, action: Action, policy: policy::Progress) {
        self.pressure.take(of_loop(action));
        self.conclude(step, true, None, policy);
    }

    /// The person has spoken, and may want something else: what counts is what comes now. What the checks have seen stays.
    pub(crate) fn user_turn(&mut self) {
        self.verifiers.restart();
        self.pressure = Pressure::default();
        self.latest = Assessment { step: self.latest.step, ..Assessment::default() };
        self.advised = None;
    }

    /// Whether the world looks as it has not looked lately.
    fn is_new(&mut self, state: Digest) -> bool {
        let is_new = !self.states.contains(&state);
        self.states.push_back(state);
        if self.states.len() > STATES {
            self.states.pop_front();
        }
        is_new
    }

    fn conclude(&mut self, step: u64, suspect: bool, check: Option<Movement>, policy: policy::Progress) {
        let lost = self.verifiers.lost(step);
        let status = match (&lost, self.pressure.level()) {
            (Some(_), _) => Status::Regressing,
            (None, Level::Stalled) => Status::Stalled,
            (None, Level::Warning) => Status::Warning,
            (None, Level::Calm) => Status::Healthy,
        };
        let before = core::mem::take(&mut self.latest);
        let goes_on = status != Status::Healthy;
        let verified = matches!(check, Some(Movement::Better(_)));
        self.latest = Assessment {
            step,
            status,
            intervention: self.advise(status, step, policy),
            suspect: suspect.then_some(step).or(before.suspect).filter(|_| goes_on),
            check: lost.or(check).map(Box::new).or(before.check.filter(|_| goes_on && !verified)),
            verified,
        };
        self.keep();
    }

    /// What the policy wants to be done, unless it was asked for a moment ago.
    fn advise(&mut self, status: Status, step: u64, policy: policy::Progress) -> Reaction {
        let wanted = match status {
            Status::Stalled => policy.stalled,
            Status::Regressing => policy.regressing,
            Status::Healthy | Status::Warning => None,
        };
        let pause = u64::from(policy.cooldown_steps.unwrap_or(0));
        let soon = self.advised.is_some_and(|before| step.saturating_sub(before) <= pause);
        let reaction = wanted.filter(|_| !soon).unwrap_or_default();
        if reaction != Reaction::Observe {
            self.advised = Some(step);
        }
        reaction
    }

    fn keep(&mut self) {
        if self.latest.status == Status::Healthy && !self.latest.verified {
            return;
        }
        if self.telling.len() >= KEPT {
            self.telling.pop_front();
        }
        self.telling.push_back(self.latest.clone());
    }
}

fn of_check(movement: Option<&Movement>) -> Sign {
    match movement {
        Some(Movement::Better(_)) => Sign::Verified,
        Some(Movement::Unmoved(readings)) if readings.times >= verifiers::STALLS => Sign::Stuck,
        Some(Movement::Unmoved(_) | Movement::Worse(_)) => Sign::Suspect,
        None => Sign::Neutral,
    }
}

fn of_step(seen: &Seen<'_>, new_state: Option<bool>) -> Sign {
    match (seen.loops, new_state) {
        (Some(action), _) => of_loop(action),
        (None, Some(true)) => Sign::Novel,
        // The world is as it was: another text of the same call is hardly news.
        (None, Some(false)) if seen.known => Sign::Neutral,
        _ if seen.novel => Sign::Novel,
        _ => Sign::Neutral,
    }
}

fn of_loop(action: Action) -> Sign {
    if action >= Action::Block { Sign::Stuck } else { Sign::Suspect }
}
