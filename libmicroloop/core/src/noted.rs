//! The latest findings worth telling, kept until somebody asks for the verdict.

use alloc::{boxed::Box, collections::VecDeque, string::String, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::{
    bounded, feedback,
    policy::{Policy, PolicyError, Tool},
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

/// A note on its way to another process: the tool by its name.
#[derive(Debug, Serialize, Deserialize)]
struct SavedNote {
    step: u64,
    tool: Option<String>,
    finding: Box<Finding>,
    enforced: bool,
    serial: u64,
}

/// What notes are saved as.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SavedNotes(#[serde(deserialize_with = "bounded::ring::<_, _, KEPT>")] VecDeque<SavedNote>);

impl Notes {
    pub(crate) fn saved(&self) -> SavedNotes {
        SavedNotes(self.0.iter().map(Note::saved).collect())
    }

    /// A note may be about a tool that is none of these: one of many that shared a number.
    ///
    /// # Errors
    /// The policy can say nothing of a tool of that name.
    pub(crate) fn restored(
        SavedNotes(saved): SavedNotes,
        tools: &[Arc<Tool>],
        policy: &Policy,
    ) -> Result<Self, PolicyError> {
        saved.into_iter().map(|note| note.restored(tools, policy)).collect::<Result<_, _>>().map(Self)
    }

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

impl SavedNote {
    fn restored(self, tools: &[Arc<Tool>], policy: &Policy) -> Result<Note, PolicyError> {
        let Self { step, tool, finding, enforced, serial } = self;
        let found = |name: String| match tools.iter().find(|tool| tool.name == name) {
            Some(tool) => Ok(Arc::clone(tool)),
            None => policy.tool(&name).map(Arc::new),
        };
        Ok(Note { step, tool: tool.map(found).transpose()?, finding, enforced, serial })
    }
}

impl Note {
    fn saved(&self) -> SavedNote {
        SavedNote {
            step: self.step,
            tool: self.tool.as_ref().map(|tool| tool.name.clone()),
            finding: self.finding.clone(),
            enforced: self.enforced,
            serial: self.serial,
        }
    }

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
