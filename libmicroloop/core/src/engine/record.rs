//! What came back from a call, written into the session's memory.

use super::{Engine, UnknownStep};
use crate::{
    call::Identity,
    detect::streak::World,
    digest::Digest,
    memory::Memory,
    outcome::{Kind, Observed, Outcome},
    pending::Pending,
    policy::Effect,
    progress::{Measures, Seen},
    verdict::{Action, Evidence, Reason},
    window::Completed,
};

impl Engine {
    /// Takes the outcome of a step that was let through.
    ///
    /// # Errors
    /// [`UnknownStep`] if the step is not under way.
    pub fn record(&mut self, step: u64, outcome: Outcome<'_>, now_ms: u64) -> Result<(), UnknownStep> {
        self.record_measured(step, outcome, &Measures::default(), now_ms)
    }

    /// `record`, with what the host knows of the step besides its outcome.
    ///
    /// # Errors
    /// As for [`Engine::record`].
    pub fn record_measured(
        &mut self,
        step: u64,
        outcome: Outcome<'_>,
        measures: &Measures,
        now_ms: u64,
    ) -> Result<(), UnknownStep> {
        let mut pending = self.pending.take(step).ok_or(UnknownStep(step))?;
        self.end_row();
        let outcome = measures.outcome(outcome);
        let observed = outcome.observe(&mut self.text).in_state(measures.state);
        self.tidy();
        let again = self.tell_tool(&mut pending, observed);
        let Some(identity) = pending.identity else { return Ok(()) };
        let known = self.memories.get(identity.call).is_some_and(|memory| memory.completed);
        self.remember_all(&pending, identity, observed, now_ms);
        let news = !again && self.is_first(identity.call);
        let seen = Seen {
            step,
            call: identity.call,
            output: outcome.bytes(),
            loops: self.borne_out(&pending, observed.kind, news),
            known,
            novel: news && observed.kind == Kind::Substance,
        };
        self.progress.take(&seen, measures, self.policy.progress());
        Ok(())
    }

    fn remember_all(&mut self, pending: &Pending, identity: Identity, observed: Observed, now_ms: u64) {
        let world = self.world;
        self.move_world(pending.effect, identity.call, observed);
        for call in core::iter::once(identity.call).chain(identity.learned) {
            self.remember(call, pending.step, observed, world, now_ms);
        }
        self.window.push(Completed { step: pending.step, call: identity.call, outcome: observed.outcome });
    }

    /// Whether the call gave its latest outcome for the first time.
    fn is_first(&self, call: Digest) -> bool {
        self.memories.get(call).is_some_and(|memory| memory.total == 1)
    }

    /// What the loop detectors said before the call ran, if what came back is what they expected: the same again.
    fn borne_out(&mut self, pending: &Pending, kind: Kind, news: bool) -> Option<Action> {
        let (action, reason) = pending.found?;
        let holds = match (kind, reason) {
            (Kind::Failure(_), Reason::Error) => self.tools.of(pending.tool)?.errors.count() > 1,
            (Kind::Failure(_), Reason::Retry) => true,
            (_, Reason::Error | Reason::Retry) => false,
            _ => !news,
        };
        holds.then_some(action)
    }

    /// A step that was let through did not run after all; its budget is given back.
    ///
    /// # Errors
    /// [`UnknownStep`] if the step is not under way.
    pub fn cancel(&mut self, step: u64) -> Result<(), UnknownStep> {
        self.withdraw(step).map(drop)
    }

    /// Takes back that a step was let through.
    pub(super) fn withdraw(&mut self, step: u64) -> Result<Pending, UnknownStep> {
        let pending = self.pending.take(step).ok_or(UnknownStep(step))?;
        if let Some(charged_ms) = pending.charged_ms {
            self.ledger.refund(pending.tool, charged_ms);
        }
        self.forget(pending.identity);
        Ok(pending)
    }

    /// Says whether the tool's call before had the same outcome.
    fn tell_tool(&mut self, pending: &mut Pending, observed: Observed) -> bool {
        let (step, world) = (pending.step, self.world);
        let Some(state) = self.tools.of(pending.tool) else { return false };
        match observed.kind {
            Kind::Failure(cause) => state.errors.failed(cause, observed.outcome, step, world),
            _ => state.errors.succeeded(),
        }
        let Some(identity) = pending.identity else { return false };
        state.sameness.completed(pending.effect, identity.call, observed, pending.wording.take(), step)
    }

    /// Moves the epoch or the shift if this outcome shows, or may mean, that the world is different now.
    fn move_world(&mut self, effect: Option<Effect>, call: Digest, observed: Observed) {
        if matches!(observed.kind, Kind::Failure(_)) {
            return;
        }
        let memory = self.memories.get(call);
        let novel = memory.is_none_or(|memory| !memory.succeeded);
        let epoch = self.world.epoch;
        let changed = |memory: &Memory| memory.completed && memory.epoch == epoch && memory.outcome != observed.outcome;
        match effect {
            Some(Effect::Write | Effect::Idempotent) if novel => self.new_epoch(),
            None if novel => self.new_shift(),
            _ if memory.is_some_and(changed) => self.new_shift(),
            _ => {}
        }
    }

    pub(super) fn new_epoch(&mut self) {
        self.world.epoch = self.world.epoch.saturating_add(1);
        self.new_shift();
    }

    fn new_shift(&mut self) {
        self.world.shift = self.world.shift.saturating_add(1);
    }

    /// `before` is the world in which the call completed, not the one that it made.
    fn remember(&mut self, call: Digest, step: u64, observed: Observed, before: World, now_ms: u64) {
        let after = self.world;
        let Some(memory) = self.memories.touch(call) else { return };
        memory.pending = memory.pending.saturating_sub(1);
        memory.complete(observed, step, before, now_ms);
        memory.epoch = after.epoch;
        memory.shift = after.shift;
    }
}

impl Memory {
    fn complete(&mut self, observed: Observed, step: u64, world: World, now_ms: u64) {
        let known = self.completed && self.epoch == world.epoch;
        // Another error in a world that may have moved is progress.
        let goes_on = known && (self.shift == world.shift || self.outcome == observed.outcome);
        if known && self.outcome == observed.outcome {
            self.total = self.total.saturating_add(1);
            self.streak = if self.shift == world.shift { self.streak.saturating_add(1) } else { 1 };
        } else {
            self.start_anew(observed.outcome, now_ms);
        }
        self.evidence.push(step);
        self.completed = true;
        self.refusals = 0;
        self.failed = matches!(observed.kind, Kind::Failure(_));
        self.succeeded |= !self.failed;
        self.fails = match (self.failed, goes_on) {
            (false, _) => 0,
            (true, true) => self.fails.saturating_add(1),
            (true, false) => 1,
        };
        if self.failed {
            self.failed_ms = now_ms;
        }
    }

    fn start_anew(&mut self, outcome: Digest, now_ms: u64) {
        self.outcome = outcome;
        self.total = 1;
        self.streak = 1;
        self.flagged = false;
        self.returned = false;
        self.since_ms = now_ms;
        self.evidence = Evidence::default();
    }
}
