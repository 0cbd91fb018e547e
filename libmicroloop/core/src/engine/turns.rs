//! What is said between the calls.

use super::{Checked, Engine, Speaker};
use crate::{
    detect::text::Turns,
    policy::Scope,
    verdict::{Action, Reason},
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
            self.refused_in_row = 0;
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
        let own = self.policy.messages().get(Reason::Text.code()).map(AsRef::as_ref);
        let found = found.map(|finding| finding.worded(own));
        let Some(finding) = self.halted.clone().or(found) else {
            return Checked { step: self.step, action: Action::Allow, noted: false };
        };
        self.step = self.step.saturating_add(1);
        let action = if self.enforces() { finding.action } else { Action::Allow };
        self.note(None, finding);
        Checked { step: self.step, action, noted: true }
    }
}
