//! What can be said of a call without its history: role, arguments, rules, batch, budget.

use alloc::{
    borrow::Cow,
    boxed::Box,
    format,
    string::{String, ToString},
    vec::Vec,
};

use super::{Call, Engine};
use crate::{
    budget::{BudgetKind, BudgetRefusal},
    call::{self, Identity},
    detect::{sameness::Wording, streak::World},
    digest::Digest,
    json::Json,
    policy::{LONGEST_NAME, Tool},
    progress::Status,
    recall::Recall,
    rules::{Rule, RuleHit, RuleKind},
    tool_state::ToolState,
    verdict::{Action, Evidence, Finding, Reason},
};

/// A call whose arguments are in order.
pub(super) struct Admitted {
    pub(super) identity: Identity,
    pub(super) wording: Option<Box<Wording>>,
    /// What an `ask` rule said
    pub(super) ask: Option<Box<Finding>>,
}

impl Engine {
    pub(super) fn admit(&mut self, call: &Call<'_>) -> Result<Admitted, Box<Finding>> {
        let tool = call.tool;
        if !self.policy.roles().permits(self.role.as_deref(), &tool.name) {
            return Err(Finding::new(Action::Block, Reason::Role, "roles"));
        }
        name(tool)?;
        size(tool, call.arguments)?;
        let step = self.step;
        let Some(state) = self.tools.of(call.index) else {
            return Err(Finding::new(Action::Block, Reason::Malformed, "tools"));
        };
        if let Some(admitted) = recalled(&self.recall, state, call) {
            state.invalid.succeeded();
            return Ok(admitted);
        }
        let json = valid(tool, call.arguments).map_err(|invalid| invalid.finding(tool, state, step))?;
        state.invalid.succeeded();
        let ask = rules(tool, &json, self.progress.latest().status)?;
        let admitted = identified(state, call, &json, &mut self.text);
        if ask.is_none() && !tool.rules.iter().any(Rule::is_passing) {
            self.recall.remember(call.tool, call.arguments, admitted.identity);
        }
        Ok(Admitted { ask, ..admitted })
    }

    /// What a call is that has been made already, whatever the policy would have said about it.
    pub(super) fn see(&mut self, call: &Call<'_>) -> Option<Admitted> {
        let state = self.tools.of(call.index)?;
        if let Some(admitted) = recalled(&self.recall, state, call) {
            return Some(admitted);
        }
        let text = || Json::Text(String::from_utf8_lossy(call.arguments));
        let json = Json::parse(call.arguments).unwrap_or_else(|_| text());
        let admitted = identified(state, call, &json, &mut self.text);
        self.recall.remember(call.tool, call.arguments, admitted.identity);
        Some(admitted)
    }

    /// The same call a second time in one model turn is answered from the first.
    pub(super) fn duplicate(&self, call: &Call<'_>, identity: Identity) -> Option<Box<Finding>> {
        let batch = Digest::of(call.context.batch?);
        let (known, step) = self.memories.get(identity.call)?.batch?;
        let finding = || Finding::new(Action::Block, Reason::Duplicate, "batch").shown_by(Evidence::of(step));
        (known == batch).then(finding)
    }

    pub(super) fn charge(&self, call: &Call<'_>) -> Result<(), Box<Finding>> {
        self.ledger.charge(call.tool, call.index, call.now_ms).map_err(|refusal| Finding::spent(&refusal))
    }
}

/// What is known of the very same bytes, unless their words are needed.
fn recalled(recall: &Recall, state: &ToolState, call: &Call<'_>) -> Option<Admitted> {
    if state.sameness.needs_words(&call.tool.loops.near) {
        return None;
    }
    let identity = recall.find(call.tool, call.arguments)?;
    Some(Admitted { identity, wording: None, ask: None })
}

fn identified(state: &mut ToolState, call: &Call<'_>, json: &Json<'_>, text: &mut Vec<u8>) -> Admitted {
    let identity = call::identify(call.tool, json, &mut state.keys, text);
    let wording = state.sameness.read(&call.tool.loops.near, json, text);
    Admitted { identity, wording, ask: None }
}

/// No tool is called so, and what a model makes up is not kept without end.
fn name(tool: &Tool) -> Result<(), Box<Finding>> {
    let len = tool.name.len();
    if len <= LONGEST_NAME {
        return Ok(());
    }
    let explained = format!("the name of the tool has {len} bytes; send the call again with the name of a tool.");
    Err(Finding::new(Action::Block, Reason::Malformed, "tool.name")
        .count(amount(LONGEST_NAME), amount(len))
        .explained(explained))
}

fn size(tool: &Tool, arguments: &[u8]) -> Result<(), Box<Finding>> {
    if arguments.len() <= tool.argument_bytes {
        return Ok(());
    }
    let finding = Finding::new(Action::Block, Reason::Size, "limits.argument_bytes");
    Err(finding.count(amount(tool.argument_bytes), amount(arguments.len())))
}

fn amount(n: usize) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}

/// What is wrong with arguments, and what they should look like.
struct Invalid {
    reason: Reason,
    rule: &'static str,
    cause: Digest,
    explained: String,
}

fn valid<'a>(tool: &Tool, arguments: &'a [u8]) -> Result<Json<'a>, Invalid> {
    let json = Json::parse(arguments).map_err(|error| Invalid {
        reason: Reason::Malformed,
        rule: "args.malformed",
        cause: Digest::of(b"malformed"),
        explained: format!("the arguments are not valid JSON: {error}."),
    })?;
    let Some(schema) = &tool.schema else { return Ok(json) };
    match schema.check(&json) {
        Ok(()) => Ok(json),
        Err(failure) => Err(Invalid {
            reason: Reason::Schema,
            rule: "args.schema",
            cause: Digest::of_parts(&[failure.path.as_bytes(), failure.keyword.as_bytes()]),
            explained: format!("{} Expected arguments: {}.", failure.message, schema.shape()),
        }),
    }
}

impl Invalid {
    /// The first time the model is shown the form; when it goes on like that, it is a loop.
    fn finding(self, tool: &Tool, state: &mut ToolState, step: u64) -> Box<Finding> {
        state.invalid.failed(self.cause, self.cause, step, World::default());
        let n = state.invalid.count();
        let levels = &tool.loops.invalid;
        let at = |level: Option<u32>| level.filter(|limit| n >= *limit).map(u64::from);
        let (action, reason, limit) = match (at(levels.halt), at(levels.block)) {
            (Some(halt), _) => (Action::Halt, Reason::Error, halt),
            (None, Some(block)) => (Action::Block, Reason::Error, block),
            (None, None) => (Action::Block, self.reason, 1),
        };
        Finding::new(action, reason, self.rule)
            .count(limit, u64::from(n))
            .shown_by(state.invalid.evidence())
            .explained(self.explained)
    }
}

/// The first rule that objects, or what an `ask` rule says.
fn rules(tool: &Tool, arguments: &Json<'_>, status: Status) -> Result<Option<Box<Finding>>, Box<Finding>> {
    let Some(hit) = crate::rules::evaluate(&tool.rules, arguments, status) else { return Ok(None) };
    let finding = broken(&hit);
    if finding.action == Action::Ask { Ok(Some(finding)) } else { Err(finding) }
}

fn broken(hit: &RuleHit<'_>) -> Box<Finding> {
    let (action, reason, says) = match hit.kind {
        RuleKind::Deny if hit.passing => (Action::Block, Reason::RuleDeny, "a rule forbids this as the run stands"),
        RuleKind::Ask if hit.passing => (Action::Ask, Reason::RuleAsk, "a rule asks for approval as the run stands"),
        RuleKind::Deny => (Action::Block, Reason::RuleDeny, "a rule forbids these arguments"),
        RuleKind::Require => (Action::Block, Reason::RuleRequire, "a rule requires something else of the arguments"),
        RuleKind::Ask => (Action::Ask, Reason::RuleAsk, "a rule asks for approval of these arguments"),
    };
    let mut finding =
        Finding::new(action, reason, "").explained(format!("{says} ({}).", hit.rule_id)).worded(hit.message);
    finding.rule = Cow::Owned(hit.rule_id.to_string());
    finding
}

impl Finding {
    pub(super) fn spent(refusal: &BudgetRefusal) -> Box<Self> {
        let (action, reason, rule) = match refusal.kind {
            BudgetKind::Calls => (Action::Halt, Reason::BudgetCalls, "budgets.calls"),
            BudgetKind::Time => (Action::Halt, Reason::BudgetTime, "budgets.wall_time"),
            BudgetKind::Tokens => (Action::Halt, Reason::BudgetTokens, "budgets.tokens"),
            BudgetKind::Usd => (Action::Halt, Reason::BudgetUsd, "budgets.usd"),
            BudgetKind::ToolTokens => (Action::Block, Reason::BudgetTokens, "budgets.wrap_up"),
            BudgetKind::ToolUsd => (Action::Block, Reason::BudgetUsd, "budgets.wrap_up"),
            BudgetKind::Rate => (Action::Block, Reason::BudgetRate, "budgets.per_minute"),
            BudgetKind::Tool => (Action::Block, Reason::BudgetTool, "limit.calls"),
            BudgetKind::ToolRate => (Action::Block, Reason::BudgetRate, "limit.per_minute"),
        };
        Self::new(action, reason, rule).count(refusal.limit, refusal.seen)
    }
}
