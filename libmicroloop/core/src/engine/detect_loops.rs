//! Asks the detectors about a call that is otherwise in order.

use alloc::boxed::Box;

use super::{Call, Engine, Judged, admit::Admitted};
use crate::{
    call::Identity,
    detect::{Situation, cycle, near, poll, repeat, retry, sameness::Wording},
    digest::Digest,
    verdict::{Finding, worse},
};

impl Engine {
    pub(super) fn detect_loops(&mut self, call: &Call<'_>, admitted: Admitted) -> Judged {
        let Admitted { identity, wording, ask } = admitted;
        for digest in core::iter::once(identity.call).chain(identity.learned) {
            self.memories.touch(digest);
        }
        let finding = worse(ask, worse(self.of_call(call, identity), self.of_tool(call, identity, wording.as_deref())));
        Judged { finding, identity: Some(identity), wording, charged: true }
    }

    /// What the history of this very call says.
    fn of_call(&self, call: &Call<'_>, identity: Identity) -> Option<Box<Finding>> {
        let situation = self.situation(call, identity.call)?;
        let failing = worse(retry::judge(&situation), poll::judge(&situation));
        if poll::has_time(&situation) {
            return failing;
        }
        worse(worse(cycle::judge(&situation), repeat::judge(&situation)), failing)
    }

    /// What the history of the tool's other calls says.
    fn of_tool(&mut self, call: &Call<'_>, identity: Identity, wording: Option<&Wording>) -> Option<Box<Finding>> {
        let polls = call.tool.poll.is_some();
        let has_time = polls && self.situation(call, identity.call).is_some_and(|situation| poll::has_time(&situation));
        let world = self.world;
        let state = self.tools.of(call.index)?;
        let failing = state.errors.judge(&call.tool.loops.error, world);
        if has_time {
            return failing;
        }
        let same = state.sameness.judge(call.tool, identity.call, wording);
        let nearly = identity.learned.and_then(|learned| near::judge(&self.situation(call, learned)?));
        worse(failing, worse(nearly, same))
    }

    fn situation<'s>(&'s self, call: &'s Call<'_>, digest: Digest) -> Option<Situation<'s>> {
        Some(Situation {
            tool: call.tool,
            memory: self.memories.get(digest)?,
            window: &self.window,
            epoch: self.world.epoch,
            shift: self.world.shift,
            now_ms: call.now_ms,
        })
    }
}
