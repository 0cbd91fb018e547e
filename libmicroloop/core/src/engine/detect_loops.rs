//! Asks the detectors about a call that is otherwise in order.

use alloc::boxed::Box;

use super::{Call, Engine, Judged, admit::Admitted};
use crate::{
    detect::{Situation, cycle, near, poll, repeat, retry},
    digest::Digest,
    memory::Memory,
    verdict::{Finding, worse},
};

impl Engine {
    pub(super) fn detect_loops(&mut self, call: &Call<'_>, admitted: Admitted) -> Judged {
        let Admitted { identity, wording, ask } = admitted;
        for digest in core::iter::once(identity.call).chain(identity.learned) {
            self.memories.touch(digest);
        }
        let of_call = self.memories.get(identity.call).and_then(|memory| self.of_call(call, memory));
        let of_tool = self.of_tool(call, identity.call, identity.learned, wording.as_ref());
        Judged { finding: worse(ask, worse(of_call, of_tool)), identity: Some(identity), wording, charged: true }
    }

    /// What the history of this very call says.
    fn of_call(&self, call: &Call<'_>, memory: &Memory) -> Option<Box<Finding>> {
        let situation = self.situation(call, memory);
        if poll::has_time(&situation) {
            return worse(retry::judge(&situation), poll::judge(&situation));
        }
        let again = worse(cycle::judge(&situation), repeat::judge(&situation));
        worse(again, retry::judge(&situation))
    }

    /// What the history of the tool's other calls says.
    fn of_tool(
        &mut self,
        call: &Call<'_>,
        identity: Digest,
        learned: Option<Digest>,
        wording: Option<&crate::detect::sameness::Wording>,
    ) -> Option<Box<Finding>> {
        let world = self.world;
        let state = self.tools.of(call.index)?;
        let failing = state.errors.judge(&call.tool.loops.error, world);
        if call.tool.poll.is_some() {
            return failing;
        }
        let same = state.sameness.judge(call.tool, identity, wording);
        let memory = learned.and_then(|learned| self.memories.get(learned));
        let nearly = memory.and_then(|memory| near::judge(&self.situation(call, memory)));
        worse(failing, worse(nearly, same))
    }

    pub(super) fn situation<'s>(&'s self, call: &'s Call<'_>, memory: &'s Memory) -> Situation<'s> {
        Situation {
            tool: call.tool,
            memory,
            window: &self.window,
            epoch: self.world.epoch,
            shift: self.world.shift,
            now_ms: call.now_ms,
        }
    }
}
