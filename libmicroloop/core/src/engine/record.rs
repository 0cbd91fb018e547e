//! What came back from a call, written into the session's memory.

use super::{Engine, UnknownStep};
use crate::{
    detect::streak::World,
    digest::Digest,
    memory::Memory,
    outcome::{Kind, Observed, Outcome},
    pending::Pending,
    policy::Effect,
    verdict::Evidence,
    window::Completed,
};

impl Engine {
    /// Takes the outcome of a step that was let through.
    ///
    /// # Errors
    /// [`UnknownStep`] if the step is not under way.
    pub fn record(&mut self, step: u64, outcome: Outcome<'_>, now_ms: u64) -> Result<(), UnknownStep> {
        let mut pending = self.pending.take(step).ok_or(UnknownStep(step))?;
        let observed = outcome.observe(&mut self.text);
        self.tidy();
        self.tell_tool(&mut pending, observed);
        let Some(identity) = pending.identity else { return Ok(()) };
        let world = self.world;
        self.move_world(pending.effect, identity.call, observed);
        for call in core::iter::once(identity.call).chain(identity.learned) {
            self.remember(call, step, observed, world, now_ms);
        }
        self.window.push(Completed { step, call: identity.call, outcome: observed.outcome });
        Ok(())
    }

    /// A step that was let through did not run after all; its budget is given back.
    ///
    /// # Errors
    /// [`UnknownStep`] if the step is not under way.
    pub fn cancel(&mut self, step: u64) -> Result<(), UnknownStep> {
        let pending = self.pending.take(step).ok_or(UnknownStep(step))?;
        if let Some(charged_ms) = pending.charged_ms {
            self.ledger.refund(pending.tool, charged_ms);
        }
        self.forget(pending.identity);
        Ok(())
    }

    fn tell_tool(&mut self, pending: &mut Pending, observed: Observed) {
        let (step, world) = (pending.step, self.world);
        let Some(state) = self.tools.of(pending.tool) else { return };
        match observed.kind {
            Kind::Failure(cause) => state.errors.failed(cause, observed.outcome, step, world),
            _ => state.errors.succeeded(),
        }
        if let Some(identity) = pending.identity {
            let wording = pending.wording.take().map(|wording| *wording);
            state.sameness.completed(pending.effect, identity.call, observed, wording, step);
        }
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
