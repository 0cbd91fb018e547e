//! The policy document as it is written, and as `policy.schema.json` has it: unknown keys, keys that come twice, lists for
//! objects, and `null` where it would take nothing away are errors.

use alloc::{string::String, vec::Vec};

use serde::{Deserialize, de::IgnoredAny};
use serde_json::Value;

use super::{
    Effect, Mode, OnError, Reaction, Scope,
    duration::Duration,
    strict::{Section, Table, Word, named, present},
};
use crate::{pattern::Names, rules::when::When};

/// A value that `null` switches off and absence inherits.
pub(crate) type Switch<T> = Option<Option<T>>;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Document {
    pub(crate) version: u64,
    pub(crate) name: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) extends: Option<IgnoredAny>,
    #[serde(default, deserialize_with = "present")]
    pub(crate) mode: Option<Word<Mode>>,
    pub(crate) on_error: Option<Word<OnError>>,
    pub(crate) limits: Option<Section<LimitsDocument>>,
    pub(crate) loops: Option<Section<LoopsDocument>>,
    pub(crate) tools: Option<Vec<Section<ToolDocument>>>,
    pub(crate) roles: Option<Section<RolesDocument>>,
    pub(crate) budgets: Option<Section<BudgetsDocument>>,
    pub(crate) progress: Option<Section<ProgressDocument>>,
    pub(crate) messages: Option<Table<Option<String>>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LimitsDocument {
    pub(crate) argument_bytes: Option<u64>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LoopsDocument {
    #[serde(default, deserialize_with = "present")]
    pub(crate) scope: Option<Word<Scope>>,
    #[serde(default, deserialize_with = "present")]
    pub(crate) repeat: Switch<Section<LevelsDocument>>,
    #[serde(default, deserialize_with = "present")]
    pub(crate) write: Switch<Section<LevelsDocument>>,
    #[serde(default, deserialize_with = "present")]
    pub(crate) cycle: Switch<Section<LevelsDocument>>,
    #[serde(default, deserialize_with = "present")]
    pub(crate) error: Switch<Section<LevelsDocument>>,
    #[serde(default, deserialize_with = "present")]
    pub(crate) near: Switch<Section<LevelsDocument>>,
    #[serde(default, deserialize_with = "present")]
    pub(crate) stall: Switch<Section<LevelsDocument>>,
    #[serde(default, deserialize_with = "present")]
    pub(crate) text: Switch<Section<LevelsDocument>>,
    #[serde(default, deserialize_with = "present")]
    pub(crate) invalid: Switch<Section<LevelsDocument>>,
    #[serde(default, deserialize_with = "present")]
    pub(crate) refused: Switch<Section<LevelsDocument>>,
    #[serde(default, deserialize_with = "present")]
    pub(crate) recur: Switch<Section<LevelsDocument>>,
    #[serde(default, deserialize_with = "present")]
    pub(crate) retry: Switch<Section<RetryDocument>>,
    pub(crate) learned: Option<Names>,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LevelsDocument {
    #[serde(default, deserialize_with = "present")]
    pub(crate) warn: Switch<u32>,
    #[serde(default, deserialize_with = "present")]
    pub(crate) block: Switch<u32>,
    #[serde(default, deserialize_with = "present")]
    pub(crate) halt: Switch<u32>,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RetryDocument {
    #[serde(default, deserialize_with = "present")]
    pub(crate) warn: Switch<u32>,
    #[serde(default, deserialize_with = "present")]
    pub(crate) block: Switch<u32>,
    #[serde(default, deserialize_with = "present")]
    pub(crate) halt: Switch<u32>,
    #[serde(default, deserialize_with = "present")]
    pub(crate) backoff: Switch<Section<BackoffDocument>>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BackoffDocument {
    pub(crate) base: Duration,
    pub(crate) factor: f64,
    pub(crate) max: Duration,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ToolDocument {
    #[serde(rename = "match")]
    pub(crate) names: Names,
    #[serde(default, deserialize_with = "present")]
    pub(crate) effect: Switch<Word<Effect>>,
    #[serde(default, deserialize_with = "present")]
    pub(crate) poll: Switch<Section<PollDocument>>,
    #[serde(default, deserialize_with = "present")]
    pub(crate) volatile: Option<Names>,
    #[serde(default, deserialize_with = "present")]
    pub(crate) cursor: Option<Names>,
    #[serde(default, deserialize_with = "present")]
    pub(crate) loop_key: Option<Names>,
    #[serde(default, deserialize_with = "present")]
    pub(crate) loops: Option<Section<LoopsDocument>>,
    #[serde(default, deserialize_with = "present")]
    pub(crate) limit: Switch<Section<LimitDocument>>,
    #[serde(default, deserialize_with = "present")]
    pub(crate) arguments: Option<Value>,
    #[serde(default)]
    pub(crate) rules: Vec<Section<RuleDocument>>,
    #[serde(default)]
    pub(crate) messages: Table<String>,
    #[serde(default, deserialize_with = "present")]
    pub(crate) on_error: Option<Word<OnError>>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PollDocument {
    #[serde(default, deserialize_with = "present")]
    pub(crate) deadline: Switch<Duration>,
    #[serde(default, deserialize_with = "present")]
    pub(crate) interval: Switch<Duration>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LimitDocument {
    #[serde(default, deserialize_with = "present")]
    pub(crate) calls: Switch<u64>,
    #[serde(default, deserialize_with = "present")]
    pub(crate) per_minute: Switch<u32>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RuleDocument {
    pub(crate) id: String,
    #[serde(default, deserialize_with = "present")]
    pub(crate) path: Option<String>,
    #[serde(default, deserialize_with = "present")]
    pub(crate) when: Option<When>,
    #[serde(default, deserialize_with = "present")]
    pub(crate) deny: Option<Section<ConditionsDocument>>,
    #[serde(default, deserialize_with = "present")]
    pub(crate) require: Option<Section<ConditionsDocument>>,
    #[serde(default, deserialize_with = "present")]
    pub(crate) ask: Option<Section<ConditionsDocument>>,
    #[serde(default, deserialize_with = "present")]
    pub(crate) message: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ConditionsDocument {
    #[serde(default, deserialize_with = "present")]
    pub(crate) regex: Option<String>,
    #[serde(default, deserialize_with = "present")]
    pub(crate) equals: Option<Value>,
    #[serde(default, deserialize_with = "present")]
    pub(crate) one_of: Option<Vec<Value>>,
    #[serde(default, deserialize_with = "present")]
    pub(crate) range: Option<Section<RangeDocument>>,
    #[serde(default, deserialize_with = "present")]
    pub(crate) max_length: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RangeDocument {
    #[serde(default, deserialize_with = "present")]
    pub(crate) min: Option<serde_json::Number>,
    #[serde(default, deserialize_with = "present")]
    pub(crate) max: Option<serde_json::Number>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RolesDocument {
    pub(crate) default: Option<String>,
    pub(crate) otherwise: Option<Word<Otherwise>>,
    #[serde(deserialize_with = "named")]
    pub(crate) grants: Option<Table<Option<Section<GrantDocument>>>>,
}

/// What holds for a tool that a role's grant does not name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Otherwise {
    Deny,
    Allow,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GrantDocument {
    pub(crate) allow: Option<Names>,
    pub(crate) deny: Option<Names>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BudgetsDocument {
    pub(crate) calls: Option<u64>,
    pub(crate) per_minute: Option<u32>,
    pub(crate) wall_time: Option<Duration>,
    pub(crate) tokens: Option<u64>,
    pub(crate) usd: Option<f64>,
    pub(crate) wrap_up: Option<f64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProgressDocument {
    pub(crate) stalled: Option<Word<Reaction>>,
    pub(crate) regressing: Option<Word<Reaction>>,
    pub(crate) cooldown_steps: Option<u32>,
}
