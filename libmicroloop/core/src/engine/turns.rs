//! What happens between the calls: turns, and what they cost.

use alloc::boxed::Box;

use super::{Checked, Engine, Speaker};
use crate::{
    budget::Spending,
    detect::text::Turns,
    policy::Scope,
    verdict::{Action, Finding},
};

impl Engine {
    /// Takes a turn of the conversation. A user turn starts the counters anew, if the policy says so; an assistant turn can be
    /// empty or repeated once too often, and then it is a step of its own.
    pub fn turn(&mut self, speaker: Speaker, text: &[u8]) -> Checked {
        match speaker {
            Speaker::User => self.user_turn(),
            Speaker::Assistant => self.assistant_turn(text),
        }
    }

    fn user_turn(&mut self) -> Checked {
        if self.halted.as_ref().is_some_and(|halt| halt.reason.ends_with_turn()) {
            self.halted = None;
        }
        if self.policy.loops().scope == Scope::Turn {
            self.progress.user_turn();
            self.refused_in_row = 0;
            self.end_row();
            self.new_epoch();
            self.memories.clear();
            self.window.clear();
            self.tools.restart();
            self.turns = Turns::default();
        }
        Checked { step: self.step, action: Action::Allow, noted: false }
    }

    fn assistant_turn(&mut self, text: &[u8]) -> Checked {
        let found = self.turns.next(text, &self.policy.loops().text, &mut self.text);
        self.tidy();
        self.conclude(found)
    }

    /// Charges what the model has spent to this session and all above it. A budget that is spent to the end halts the run,
    /// and that is a step of its own.
    pub fn spend(&mut self, spending: Spending) -> Checked {
        let spent = self.ledger.spend(spending);
        self.conclude(spent.err().map(|refusal| Finding::spent(&refusal)))
    }

    fn conclude(&mut self, found: Option<Box<Finding>>) -> Checked {
        let found = found.map(|finding| {
            let own = self.policy.messages().get(finding.reason.code()).map(AsRef::as_ref);
            finding.worded(own)
        });
        let Some(finding) = self.halted.clone().or(found) else {
            return Checked { step: self.step, action: Action::Allow, noted: false };
        };
        self.step = self.step.saturating_add(1);
        let action = if self.enforces() { finding.action } else { Action::Allow };
        if finding.reason.is_standstill() {
            self.progress.found(self.step, finding.action, self.policy.progress());
        }
        self.note(self.step, None, finding);
        Checked { step: self.step, action, noted: true }
    }
}
