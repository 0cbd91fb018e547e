//! The way of a call: `check` before it runs, `record` when it came back.
//!
//! ```text
//! check:  role → arguments (size, JSON, schema, rules) → batch → budgets → loops → verdict
//! record: outcome → per tool → memory → window → epoch → progress
//! observe: both, for a step that has run already, without what could refuse it
//! ```
//!
//! One engine a session. Nothing here grows with the length of the run.

mod admit;
mod detect_loops;
mod progress;
mod record;
mod settle;
mod snapshot;
mod turns;

use alloc::{boxed::Box, string::String, sync::Arc, vec::Vec};

use serde::{Deserialize, Serialize};

pub use progress::{Proof, Report};
pub use snapshot::{HasParent, NotRestored};

use crate::{
    budget::{Ledger, Spending},
    call::Identity,
    detect::{sameness::Wording, streak::World, text::Turns},
    ids::{self, CallIds},
    memory::Memories,
    noted::Notes,
    pending::PendingCalls,
    policy::{Mode, Policy, Tool},
    progress::Progress,
    recall::Recall,
    tool_state::ToolStates,
    verdict::{Action, Finding, Verdict},
    window::Window,
};

/// What the host knows of a call besides its tool and arguments.
#[derive(Debug, Clone, Copy, Default)]
pub struct Context<'a> {
    /// The framework's id of the call
    pub call_id: Option<&'a [u8]>,
    /// What the calls of one model turn have in common
    pub batch: Option<&'a [u8]>,
}

/// The short form of a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checked {
    /// The number of the step, from 1
    pub step: u64,
    /// What happens
    pub action: Action,
    /// Whether [`Engine::verdict`] has more to say
    pub noted: bool,
}

/// Who speaks in a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaker {
    /// The person
    User,
    /// The model
    Assistant,
}

/// The step is not under way: never checked, refused, recorded already, or too long ago.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownStep(pub u64);

/// Where a session stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State<'e> {
    /// How many steps were checked
    pub steps: u64,
    /// How many changes of the world were counted
    pub epoch: u32,
    /// Why the session was halted
    pub halted: Option<&'static str>,
    /// How many calls were charged to the budget
    pub calls: u64,
    /// What the model has spent, as far as it was reported
    pub spending: Spending,
    /// How many calls were refused
    pub refusals: u64,
    /// The session's role
    pub role: Option<&'e str>,
}

/// One session: its policy and all it remembers.
#[derive(Debug)]
pub struct Engine {
    policy: Arc<Policy>,
    role: Option<String>,
    ledger: Arc<Ledger>,
    step: u64,
    world: World,
    memories: Memories,
    window: Window,
    tools: ToolStates,
    pending: PendingCalls,
    notes: Notes,
    ids: CallIds,
    recall: Recall,
    turns: Turns,
    progress: Progress,
    halted: Option<Box<Finding>>,
    serial: u64,
    refusals: u64,
    refused_in_row: u32,
    row: u64,
    text: Vec<u8>,
}

/// A call on its way.
struct Call<'c> {
    tool: &'c Arc<Tool>,
    index: u32,
    arguments: &'c [u8],
    context: &'c Context<'c>,
    now_ms: u64,
}

/// What was found out about a call. Without a finding it simply runs.
#[derive(Debug, Default)]
struct Judged {
    finding: Option<Box<Finding>>,
    identity: Option<Identity>,
    wording: Option<Box<Wording>>,
    charged: bool,
}

/// Scratch text longer than this is given back after use.
const SCRATCH: usize = 64 * 1024;

impl Engine {
    /// A session under `policy`. Its calls are charged to `parent` too.
    #[must_use]
    pub fn new(policy: Arc<Policy>, role: Option<&str>, parent: Option<&Self>, now_ms: u64) -> Self {
        let ledger = Ledger::new(policy.budgets(), parent.map(|parent| Arc::clone(&parent.ledger)), now_ms);
        Self {
            policy,
            role: role.map(String::from),
            ledger: Arc::new(ledger),
            step: 0,
            world: World::default(),
            memories: Memories::new(),
            window: Window::default(),
            tools: ToolStates::default(),
            pending: PendingCalls::default(),
            notes: Notes::default(),
            ids: CallIds::default(),
            recall: Recall::new(),
            turns: Turns::default(),
            progress: Progress::default(),
            halted: None,
            serial: 0,
            refusals: 0,
            refused_in_row: 0,
            row: 0,
            text: Vec::new(),
        }
    }

    /// Says whether a call may run. `index` is the tool's number in this session, which tools may share: their counters are
    /// one then, and their calls stay apart. `now_ms` never runs backwards.
    pub fn check(
        &mut self,
        tool: &Arc<Tool>,
        index: u32,
        arguments: &[u8],
        context: &Context<'_>,
        now_ms: u64,
    ) -> Checked {
        let id = ids::key(context, &tool.name, arguments);
        if let Some(earlier) = self.ids.find(id) {
            return earlier;
        }
        let call = Call { tool, index, arguments, context, now_ms };
        let checked = self.take(&call, Self::judge);
        self.ids.remember(id, checked);
        checked
    }

    /// One more step, judged as `judge` does it.
    fn take(&mut self, call: &Call<'_>, judge: impl FnOnce(&mut Self, &Call<'_>) -> Judged) -> Checked {
        self.step = self.step.saturating_add(1);
        let judged = judge(self, call);
        let checked = self.settle(call, judged);
        self.tidy();
        checked
    }

    fn judge(&mut self, call: &Call<'_>) -> Judged {
        if let Some(halt) = self.halted.clone() {
            return Judged::refused(halt);
        }
        let admitted = match self.admit(call) {
            Ok(admitted) => admitted,
            Err(finding) => return Judged::refused(finding),
        };
        if let Some(duplicate) = self.duplicate(call, admitted.identity) {
            return Judged::refused(duplicate);
        }
        if let Err(finding) = self.charge(call) {
            return Judged { identity: Some(admitted.identity), ..Judged::refused(finding) };
        }
        self.detect_loops(call, admitted)
    }

    /// The whole verdict on one of the latest steps that were not simply allowed.
    #[must_use]
    pub fn verdict(&self, step: u64) -> Option<Verdict> {
        self.notes.verdict(step)
    }

    /// Where the session stands.
    #[must_use]
    pub fn state(&self) -> State<'_> {
        State {
            steps: self.step,
            epoch: self.world.epoch,
            halted: self.halted.as_ref().map(|finding| finding.reason.code()),
            calls: self.ledger.spent(),
            spending: self.ledger.spending(),
            refusals: self.refusals,
            role: self.role.as_deref(),
        }
    }

    /// What the session's policy does with what it finds.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.policy.mode()
    }

    fn enforces(&self) -> bool {
        self.policy.mode() == Mode::Enforce
    }

    /// One very long text must not make the session large for good.
    fn tidy(&mut self) {
        if self.text.capacity() > SCRATCH {
            self.text = Vec::new();
        }
    }
}

impl Judged {
    fn refused(finding: Box<Finding>) -> Self {
        Self { finding: Some(finding), ..Self::default() }
    }
}
