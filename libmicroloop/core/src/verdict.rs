//! What the guard says about a call.

use alloc::{borrow::Cow, boxed::Box, string::String, vec::Vec};

use serde::{Deserialize, Serialize};

pub use crate::amount::Amount;

/// What happens to the call, mildest first. The numbers cross the C ABI and never change; 2 is kept for `transform`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum Action {
    /// The call runs.
    Allow = 0,
    /// The call runs, and its result carries advice.
    Warn = 1,
    /// A person or the host decides.
    Ask = 3,
    /// This call is refused; the run goes on.
    Block = 4,
    /// The run ends.
    Halt = 5,
}

impl Action {
    /// Whether the call may run, at least if somebody agrees.
    #[must_use]
    pub fn runs(self) -> bool {
        self < Self::Block
    }
}

/// Why, as a stable code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reason {
    /// Nothing to say
    #[serde(rename = "none")]
    None,
    /// The same call gets the same outcome again
    #[serde(rename = "loop.repeat")]
    Repeat,
    /// A sequence of calls comes round again
    #[serde(rename = "loop.cycle")]
    Cycle,
    /// A failing call is retried too often or too soon
    #[serde(rename = "loop.retry")]
    Retry,
    /// A poll comes sooner than its interval
    #[serde(rename = "loop.poll")]
    Poll,
    /// The same error again, whatever the arguments
    #[serde(rename = "loop.error")]
    Error,
    /// Reworded arguments, the same outcome
    #[serde(rename = "loop.near")]
    Near,
    /// New calls, nothing new learned
    #[serde(rename = "loop.stall")]
    Stall,
    /// Empty or repeated assistant turns
    #[serde(rename = "loop.text")]
    Text,
    /// Refusals in a row, and nothing else
    #[serde(rename = "loop.refused")]
    Refused,
    /// The arguments are not JSON
    #[serde(rename = "args.malformed")]
    Malformed,
    /// The arguments are too long
    #[serde(rename = "args.size")]
    Size,
    /// The arguments break the tool's JSON Schema
    #[serde(rename = "args.schema")]
    Schema,
    /// The role may not call this tool
    #[serde(rename = "role.denied")]
    Role,
    /// A deny rule matched
    #[serde(rename = "rule.deny")]
    RuleDeny,
    /// A require rule did not hold
    #[serde(rename = "rule.require")]
    RuleRequire,
    /// An ask rule matched
    #[serde(rename = "rule.ask")]
    RuleAsk,
    /// The session's calls are spent
    #[serde(rename = "budget.calls")]
    BudgetCalls,
    /// This tool's calls are spent
    #[serde(rename = "budget.tool")]
    BudgetTool,
    /// Too many calls in a minute
    #[serde(rename = "budget.rate")]
    BudgetRate,
    /// The session's time is spent
    #[serde(rename = "budget.time")]
    BudgetTime,
    /// The model's tokens are spent, or all but those for the answer
    #[serde(rename = "budget.tokens")]
    BudgetTokens,
    /// The money is spent, or all but that for the answer
    #[serde(rename = "budget.usd")]
    BudgetUsd,
    /// The same call in the same batch
    #[serde(rename = "call.duplicate")]
    Duplicate,
}

impl Reason {
    /// The code as text.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Repeat => "loop.repeat",
            Self::Cycle => "loop.cycle",
            Self::Retry => "loop.retry",
            Self::Poll => "loop.poll",
            Self::Error => "loop.error",
            Self::Near => "loop.near",
            Self::Stall => "loop.stall",
            Self::Text => "loop.text",
            Self::Refused => "loop.refused",
            Self::Malformed => "args.malformed",
            Self::Size => "args.size",
            Self::Schema => "args.schema",
            Self::Role => "role.denied",
            Self::RuleDeny => "rule.deny",
            Self::RuleRequire => "rule.require",
            Self::RuleAsk => "rule.ask",
            Self::BudgetCalls => "budget.calls",
            Self::BudgetTool => "budget.tool",
            Self::BudgetRate => "budget.rate",
            Self::BudgetTime => "budget.time",
            Self::BudgetTokens => "budget.tokens",
            Self::BudgetUsd => "budget.usd",
            Self::Duplicate => "call.duplicate",
        }
    }

    /// Whether a detector of the loop contract says so.
    pub(crate) fn is_loop(self) -> bool {
        self.code().starts_with("loop.")
    }

    /// Whether it says that the run gets nowhere. One that polls too fast may well get somewhere.
    pub(crate) fn is_standstill(self) -> bool {
        self.is_loop() && self != Self::Poll
    }

    /// Whether a new user turn lifts a halt for this reason.
    pub(crate) fn ends_with_turn(self) -> bool {
        !matches!(self, Self::BudgetCalls | Self::BudgetTime | Self::BudgetTokens | Self::BudgetUsd)
    }

    /// Whether a refusal for this reason says that the model does not find its way. A duplicate is answered all the same; and
    /// calls that were asked for together, when the rest of a budget is for the answer, are refused together.
    pub(crate) fn counts_as_refusal(self) -> bool {
        !matches!(self, Self::Duplicate | Self::BudgetTokens | Self::BudgetUsd)
    }
}

/// The whole verdict on one call.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Verdict {
    /// The number of the step, from 1, in this session
    pub step: u64,
    /// The tool that was called
    pub tool: String,
    /// What happens
    pub action: Action,
    /// In `observe` mode: what would have happened
    pub would: Option<Action>,
    /// Why
    pub reason: Reason,
    /// The rule, limit or section of the policy that said so
    pub rule: String,
    /// The limit that was met
    pub limit: Option<Amount>,
    /// What was counted or measured against it
    pub seen: Option<Amount>,
    /// The steps that led here
    pub evidence: Vec<u64>,
    /// Text for the model
    pub feedback: String,
}

/// How many steps a verdict names at most.
pub(crate) const EVIDENCE: usize = 8;

/// The latest few steps that speak for a finding.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<u64>", into = "Vec<u64>")]
pub struct Evidence {
    steps: [u64; EVIDENCE],
    len: usize,
}

impl Evidence {
    pub(crate) fn of(step: u64) -> Self {
        let mut evidence = Self::default();
        evidence.push(step);
        evidence
    }

    pub(crate) fn push(&mut self, step: u64) {
        if self.len == EVIDENCE {
            self.steps.rotate_left(1);
            self.len -= 1;
        }
        if let Some(slot) = self.steps.get_mut(self.len) {
            *slot = step;
            self.len += 1;
        }
    }

    pub(crate) fn to_vec(self) -> Vec<u64> {
        self.steps.iter().take(self.len).copied().collect()
    }
}

impl From<Evidence> for Vec<u64> {
    fn from(evidence: Evidence) -> Self {
        evidence.to_vec()
    }
}

impl From<Vec<u64>> for Evidence {
    fn from(steps: Vec<u64>) -> Self {
        let mut evidence = Self::default();
        for step in steps {
            evidence.push(step);
        }
        evidence
    }
}

/// One detector's or rule's opinion, before it becomes a verdict. No text is made unless somebody asks. Always boxed: opinions are
/// compared and passed on often and seldom exist.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Finding {
    pub(crate) action: Action,
    pub(crate) reason: Reason,
    pub(crate) rule: Cow<'static, str>,
    pub(crate) limit: Option<u64>,
    pub(crate) seen: Option<u64>,
    pub(crate) evidence: Evidence,
    /// What the guard knows of the case
    pub(crate) detail: Option<String>,
    /// The policy's own text for this very case; it takes the place of ours.
    pub(crate) message: Option<String>,
}

impl Finding {
    pub(crate) fn new(action: Action, reason: Reason, rule: &'static str) -> Box<Self> {
        Box::new(Self {
            action,
            reason,
            rule: Cow::Borrowed(rule),
            limit: None,
            seen: None,
            evidence: Evidence::default(),
            detail: None,
            message: None,
        })
    }

    pub(crate) fn count(mut self: Box<Self>, limit: u64, seen: u64) -> Box<Self> {
        self.limit = Some(limit);
        self.seen = Some(seen);
        self
    }

    /// A number of this finding in its unit.
    pub(crate) fn amount(&self, number: u64) -> Amount {
        if self.reason == Reason::BudgetUsd { Amount::NanoUsd(number) } else { Amount::Count(number) }
    }

    pub(crate) fn shown_by(mut self: Box<Self>, evidence: Evidence) -> Box<Self> {
        self.evidence = evidence;
        self
    }

    pub(crate) fn worded(mut self: Box<Self>, message: Option<&str>) -> Box<Self> {
        self.message = message.map(String::from);
        self
    }

    pub(crate) fn explained(mut self: Box<Self>, detail: String) -> Box<Self> {
        self.detail = Some(detail);
        self
    }
}

/// The more severe of two opinions, the first among equals.
pub(crate) fn worse(first: Option<Box<Finding>>, second: Option<Box<Finding>>) -> Option<Box<Finding>> {
    match (first, second) {
        (Some(a), Some(b)) if b.action > a.action => Some(b),
        (Some(a), _) => Some(a),
        (None, b) => b,
    }
}
