//! A session between two processes: all that its verdicts depend on, as bytes.
//!
//! Left out are the policy, which the restoring process brings, and what is only remembered to be quick.

use alloc::{borrow::Cow, boxed::Box, format, string::String, sync::Arc, vec::Vec};

use serde::{Deserialize, Serialize};

use super::Engine;
use crate::{
    budget::{Balance, Ledger},
    detect::{streak::World, text::Turns},
    ids::CallIds,
    memory::Memories,
    noted::{Notes, SavedNotes},
    pending::PendingCalls,
    policy::{Policy, Tool},
    progress::Progress,
    recall::Recall,
    tool_state::ToolStates,
    verdict::Finding,
    window::Window,
};

/// The session charges its calls to a parent too, and a saved one would no longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HasParent;

/// Why bytes are no session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotRestored(pub String);

/// The bytes are these fields in this order: whoever changes one changes the host's number of the format.
#[derive(Serialize, Deserialize)]
struct Snapshot<'e> {
    role: Option<Cow<'e, str>>,
    balance: Balance,
    step: u64,
    world: World,
    memories: Cow<'e, Memories>,
    window: Cow<'e, Window>,
    tools: Cow<'e, ToolStates>,
    pending: Cow<'e, PendingCalls>,
    notes: SavedNotes,
    ids: Cow<'e, CallIds>,
    turns: Turns,
    progress: Cow<'e, Progress>,
    halted: Option<Cow<'e, Finding>>,
    serial: u64,
    refusals: u64,
    refused_in_row: u32,
    row: u64,
}

impl Snapshot<'_> {
    fn read(bytes: &[u8]) -> Result<Self, NotRestored> {
        match postcard::take_from_bytes(bytes) {
            Ok((saved, [])) => Ok(saved),
            Ok((_, rest)) => Err(NotRestored(format!("{} bytes are left over", rest.len()))),
            Err(error) => Err(NotRestored(format!("they cannot be read ({error})"))),
        }
    }
}

impl Engine {
    /// The session as bytes, for [`Engine::restore`].
    ///
    /// # Errors
    /// [`HasParent`] if it is the session of a sub-agent.
    pub fn save(&self) -> Result<Vec<u8>, HasParent> {
        let snapshot = Snapshot {
            role: self.role.as_deref().map(Cow::Borrowed),
            balance: self.ledger.balance().ok_or(HasParent)?,
            step: self.step,
            world: self.world,
            memories: Cow::Borrowed(&self.memories),
            window: Cow::Borrowed(&self.window),
            tools: Cow::Borrowed(&self.tools),
            pending: Cow::Borrowed(&self.pending),
            notes: self.notes.saved(),
            ids: Cow::Borrowed(&self.ids),
            turns: self.turns,
            progress: Cow::Borrowed(&self.progress),
            halted: self.halted.as_deref().map(Cow::Borrowed),
            serial: self.serial,
            refusals: self.refusals,
            refused_in_row: self.refused_in_row,
            row: self.row,
        };
        // Fails only where a buffer is too small or a length unknown, and neither can be.
        Ok(postcard::to_allocvec(&snapshot).unwrap_or_default())
    }

    /// A session from the bytes of [`Engine::save`], under the same policy. `tools` has the tools that it was asked about
    /// before, by their numbers.
    ///
    /// # Errors
    /// [`NotRestored`] says what is wrong with the bytes.
    pub fn restore(policy: Arc<Policy>, bytes: &[u8], tools: &[Arc<Tool>]) -> Result<Self, NotRestored> {
        let saved = Snapshot::read(bytes)?;
        if saved.tools.len() > tools.len() || !saved.pending.within(tools.len()) {
            return Err(NotRestored("they speak of a tool that was not saved with them".into()));
        }
        let notes = Notes::restored(saved.notes, tools, &policy)
            .map_err(|error| NotRestored(format!("they have a verdict on no tool ({})", error.message)))?;
        Ok(Self {
            role: saved.role.map(Cow::into_owned),
            ledger: Arc::new(Ledger::reopen(policy.budgets(), saved.balance)),
            policy,
            step: saved.step,
            world: saved.world,
            memories: saved.memories.into_owned(),
            window: saved.window.into_owned(),
            tools: saved.tools.into_owned(),
            pending: saved.pending.into_owned(),
            notes,
            ids: saved.ids.into_owned(),
            recall: Recall::new(),
            turns: saved.turns,
            progress: saved.progress.into_owned(),
            halted: saved.halted.map(|finding| Box::new(finding.into_owned())),
            serial: saved.serial,
            refusals: saved.refusals,
            refused_in_row: saved.refused_in_row,
            row: saved.row,
            text: Vec::new(),
        })
    }
}
