//! Turns what was found out about a call into its verdict, and keeps the books.

use alloc::{boxed::Box, sync::Arc};

use super::{Call, Checked, Engine, Judged, UnknownStep};
use crate::{
    call::Identity,
    digest::Digest,
    memory::Memory,
    noted::Note,
    pending::Pending,
    policy::{LONGEST_NAME, Tool},
    verdict::{Action, Evidence, Finding, Reason},
};

impl Engine {
    pub(super) fn settle(&mut self, call: &Call<'_>, mut judged: Judged) -> Checked {
        judged.finding = judged.finding.map(|finding| self.escalate(finding));
        let found = judged.finding.as_ref().map_or(Action::Allow, |finding| finding.action);
        let action = if self.enforces() { found } else { Action::Allow };
        self.keep_flags(&judged);
        if action.runs() {
            self.let_through(call, &mut judged);
        } else {
            self.refuse(call, &judged);
        }
        let noted = judged.finding.map(|finding| self.note(self.step, known(call.tool), finding));
        self.turns = crate::detect::text::Turns::default();
        Checked { step: self.step, action, noted: noted.is_some() }
    }

    /// A model that gets nothing but refusals will not find its way by one more.
    fn escalate(&self, finding: Box<Finding>) -> Box<Finding> {
        let n = self.refused_in_row.saturating_add(1);
        let limit = self.policy.loops().refused.halt.filter(|limit| n >= *limit);
        match limit {
            Some(limit) if finding.action == Action::Block && finding.reason.counts_as_refusal() => {
                Finding::new(Action::Halt, Reason::Refused, "loops.refused")
                    .count(u64::from(limit), u64::from(n))
                    .shown_by(finding.evidence)
            }
            _ => finding,
        }
    }

    /// Remembers which call was flagged, and that a flagged one has come back.
    fn keep_flags(&mut self, judged: &Judged) {
        let shift = self.world.shift;
        let Some(memory) = judged.identity.and_then(|identity| self.memories.get_mut(identity.call)) else { return };
        if memory.flagged && memory.shift != shift {
            memory.returned = true;
        }
        let again = |finding: &Finding| matches!(finding.reason, Reason::Repeat | Reason::Cycle);
        if judged.finding.as_deref().is_some_and(again) {
            memory.flagged = true;
        }
    }

    fn let_through(&mut self, call: &Call<'_>, judged: &mut Judged) {
        let row = (self.row, core::mem::take(&mut self.refused_in_row));
        let (step, now_ms) = (self.step, call.now_ms);
        let batch = call.context.batch.map(|batch| (Digest::of(batch), step));
        self.each_memory(judged.identity, |memory| {
            memory.pending = memory.pending.saturating_add(1);
            memory.let_through_ms = Some(now_ms);
            memory.batch = batch;
        });
        let dropped = self.pending.push(Pending {
            step,
            tool: call.index,
            effect: call.tool.effect,
            charged_ms: judged.charged.then_some(now_ms),
            identity: judged.identity,
            found: judged
                .finding
                .as_deref()
                .filter(|finding| finding.reason.is_standstill())
                .map(|finding| (finding.action, finding.reason)),
            wording: judged.wording.take(),
            row,
        });
        if let Some(dropped) = dropped {
            self.forget(dropped.identity);
        }
    }

    fn refuse(&mut self, call: &Call<'_>, judged: &Judged) {
        self.refusals = self.refusals.saturating_add(1);
        let Some(finding) = &judged.finding else { return };
        if finding.reason.counts_as_refusal() {
            self.refused_in_row = self.refused_in_row.saturating_add(1);
        }
        if judged.charged {
            self.ledger.refund(call.index, call.now_ms);
        }
        if finding.reason.is_loop() {
            self.progress.found(self.step, finding.action, self.policy.progress());
            self.each_memory(judged.identity, |memory| memory.refusals = memory.refusals.saturating_add(1));
        }
        if finding.reason == Reason::Error
            && let Some(state) = self.tools.of(call.index)
        {
            state.errors.refused();
        }
    }

    /// The host refuses a step that was let through, for a reason of its own: it did not run, and it counts as a refusal like
    /// ours, so that a model which gets nothing else is halted. `tool_of` finds a tool by its number.
    ///
    /// # Errors
    /// [`UnknownStep`] if the step is not under way.
    pub fn host_refuses(
        &mut self,
        step: u64,
        tool_of: impl FnOnce(u32) -> Option<Arc<Tool>>,
    ) -> Result<Checked, UnknownStep> {
        let Pending { tool, row, .. } = self.withdraw(step)?;
        self.refusals = self.refusals.saturating_add(1);
        if row.0 == self.row {
            self.refused_in_row = self.refused_in_row.max(row.1);
        }
        let refusal = Finding::new(Action::Block, Reason::RuleDeny, "").shown_by(Evidence::of(step));
        let finding = self.escalate(refusal);
        self.refused_in_row = self.refused_in_row.saturating_add(1);
        let halts = self.halted.is_none() && self.enforces() && finding.action == Action::Halt;
        if halts {
            self.note(step, tool_of(tool), finding);
        }
        Ok(Checked { step, action: if halts { Action::Halt } else { Action::Block }, noted: halts })
    }

    /// A call that has run, or a person who speaks, ends a row of refusals.
    pub(super) fn end_row(&mut self) {
        self.row = self.row.saturating_add(1);
    }

    /// Keeps a finding for whoever asks, and ends the session if it says so.
    pub(super) fn note(&mut self, step: u64, tool: Option<Arc<Tool>>, finding: Box<Finding>) {
        self.serial = self.serial.saturating_add(1);
        let enforced = self.enforces();
        if enforced && finding.action == Action::Halt {
            self.halted = Some(finding.clone());
        }
        self.notes.push(Note { step, tool, finding, enforced, serial: self.serial });
    }

    /// A call that was let through will not come back.
    pub(super) fn forget(&mut self, identity: Option<Identity>) {
        self.each_memory(identity, |memory| memory.pending = memory.pending.saturating_sub(1));
    }

    pub(super) fn each_memory(&mut self, identity: Option<Identity>, change: impl Fn(&mut Memory)) {
        let Some(identity) = identity else { return };
        for call in core::iter::once(identity.call).chain(identity.learned) {
            if let Some(memory) = self.memories.get_mut(call) {
                change(memory);
            }
        }
    }
}

/// The tool for a note, but for a name that is none: notes are kept.
fn known(tool: &Arc<Tool>) -> Option<Arc<Tool>> {
    (tool.name.len() <= LONGEST_NAME).then(|| Arc::clone(tool))
}
