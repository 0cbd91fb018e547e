//! The latest findings worth telling, kept until somebody asks for the verdict.

use alloc::{boxed::Box, collections::VecDeque, string::String, sync::Arc};

use crate::{
    feedback,
    policy::Tool,
    verdict::{Action, Finding, Verdict},
};

const KEPT: usize = 64;

/// A finding and what its text is made of.
#[derive(Debug)]
pub(crate) struct Note {
    pub(crate) step: u64,
    pub(crate) tool: Option<Arc<Tool>>,
    pub(crate) finding: Box<Finding>,
    pub(crate) enforced: bool,
    pub(crate) serial: u64,
}

/// The latest notes, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Notes(VecDeque<Note>);

impl Notes {
    pub(crate) fn push(&mut self, note: Note) {
        if self.0.len() >= KEPT {
            self.0.pop_front();
        }
        self.0.push_back(note);
    }

    pub(crate) fn verdict(&self, step: u64) -> Option<Verdict> {
        self.0.iter().rev().find(|note| note.step == step).map(Note::verdict)
    }
}

impl Note {
    fn verdict(&self) -> Verdict {
        let finding = &self.finding;
        Verdict {
            step: self.step,
            tool: self.tool.as_ref().map_or_else(String::new, |tool| tool.name.clone()),
            action: if self.enforced { finding.action } else { Action::Allow },
            would: (!self.enforced).then_some(finding.action),
            reason: finding.reason,
            rule: finding.rule.clone().into_owned(),
            limit: finding.limit.map(|limit| finding.amount(limit)),
            seen: finding.seen.map(|seen| finding.amount(seen)),
            evidence: finding.evidence.to_vec(),
            feedback: feedback::text(self),
        }
    }
}
