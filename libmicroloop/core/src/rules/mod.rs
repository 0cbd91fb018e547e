//! The rules on the arguments of a call: what is denied, what is required, and when somebody is asked.

mod condition;
mod constant;
mod path;
pub(crate) mod screen;
mod search;
pub(crate) mod when;

use alloc::{string::String, sync::Arc, vec::Vec};

use condition::Condition;
use path::Path;
use screen::{Screen, Screening};
use when::When;

use crate::{
    json::Json,
    policy::{
        PolicyError,
        document::{ConditionsDocument, RuleDocument},
        strict::Section,
    },
    progress::Status,
};

/// What a rule does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleKind {
    /// Refuses what matches
    Deny,
    /// Refuses what is absent or does not match
    Require,
    /// Lets somebody decide on what matches
    Ask,
}

/// One rule, ready to be evaluated.
#[derive(Debug, Clone)]
pub struct Rule {
    id: String,
    kind: RuleKind,
    path: Path,
    conditions: Vec<Condition>,
    when: Option<When>,
    message: Option<String>,
    screen: Option<Arc<Screen>>,
}

/// A rule that fired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RuleHit<'a> {
    /// The id of the rule
    pub rule_id: &'a str,
    /// What it does
    pub kind: RuleKind,
    /// Whether it holds only while the run is as it is
    pub passing: bool,
    /// The policy's own text for the model
    pub message: Option<&'a str>,
}

/// The most severe of the rules that fire while the run has this status: the first `deny` or `require`, else the first `ask`.
#[must_use]
pub fn evaluate<'a>(rules: &'a [Rule], arguments: &Json<'_>, status: Status) -> Option<RuleHit<'a>> {
    let mut asking = None;
    let mut screening = Screening::default();
    for rule in rules {
        if !rule.holds(status) || screening.clears(rule, arguments) {
            continue;
        }
        // A second question does not change that somebody is asked.
        if rule.kind == RuleKind::Ask && asking.is_some() {
            continue;
        }
        match rule.fires(arguments) {
            true if rule.kind == RuleKind::Ask => asking = Some(rule.hit()),
            true => return Some(rule.hit()),
            false => {}
        }
    }
    asking
}

/// Whether a rule of a policy could use this pattern.
///
/// # Errors
/// [`PolicyErrorKind::UnsupportedRegex`](crate::policy::PolicyErrorKind::UnsupportedRegex) for look-around,
/// backreferences and the like, `Invalid` for everything else.
pub fn check_regex(pattern: &str) -> Result<(), PolicyError> {
    search::compile(pattern).map(|_| ())
}

impl Rule {
    /// The id, unique among the rules of a tool.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Whether the rule holds only while the run gets nowhere.
    pub(crate) fn is_passing(&self) -> bool {
        self.when.is_some()
    }

    fn holds(&self, status: Status) -> bool {
        self.when.is_none_or(|when| when.holds(status))
    }

    /// Whether the rule has something to say about these arguments. With `[*]`, one item is enough.
    fn fires(&self, arguments: &Json<'_>) -> bool {
        let holds = |value: &Json<'_>| self.conditions.iter().all(|condition| condition.holds(value));
        let wanted = self.kind == RuleKind::Require;
        self.path.any(arguments, &|value| value.is_some_and(&holds) != wanted)
    }

    fn hit(&self) -> RuleHit<'_> {
        RuleHit { rule_id: &self.id, kind: self.kind, passing: self.is_passing(), message: self.message.as_deref() }
    }

    /// Reads a rule; the errors begin with the key that is wrong.
    pub(crate) fn read(Section(document): Section<RuleDocument>) -> Result<Self, PolicyError> {
        let RuleDocument { id, path, when, deny, require, ask, message } = document;
        if id.is_empty() {
            return Err(PolicyError::invalid("id", "it is empty: give the rule a name, verdicts will show it"));
        }
        let path = path.as_deref().map(Path::parse).transpose()?.unwrap_or_default();
        let (kind, Section(conditions)) = only_one(deny, require, ask)?;
        let conditions = read_conditions(conditions, &path).map_err(|error| error.within(kind.key()))?;
        if conditions.is_empty() && (when.is_none() || kind == RuleKind::Require) {
            let what = "it has no condition: give it regex, equals, one_of, range or max_length; only with `when` can deny \
                        and ask do without";
            return Err(PolicyError::invalid(kind.key(), what));
        }
        Ok(Self { id, kind, path, conditions, when, message, screen: None })
    }
}

impl RuleKind {
    fn key(self) -> &'static str {
        match self {
            Self::Deny => "deny",
            Self::Require => "require",
            Self::Ask => "ask",
        }
    }
}

type Conditions = Section<ConditionsDocument>;

fn only_one(
    deny: Option<Conditions>,
    require: Option<Conditions>,
    ask: Option<Conditions>,
) -> Result<(RuleKind, Conditions), PolicyError> {
    match (deny, require, ask) {
        (Some(conditions), None, None) => Ok((RuleKind::Deny, conditions)),
        (None, Some(conditions), None) => Ok((RuleKind::Require, conditions)),
        (None, None, Some(conditions)) => Ok((RuleKind::Ask, conditions)),
        (None, None, None) => {
            let what = "the rule says nothing: give it one of deny, require and ask";
            Err(PolicyError::invalid("deny", what))
        }
        _ => {
            let what = "the rule has more than one of deny, require and ask: split it, each with an id of its own";
            Err(PolicyError::invalid("deny", what))
        }
    }
}

fn read_conditions(document: ConditionsDocument, path: &Path) -> Result<Vec<Condition>, PolicyError> {
    if path.is_root() && (document.regex.is_some() || document.range.is_some()) {
        let (key, whose) = if document.regex.is_some() { ("regex", "text") } else { ("range", "number") };
        let what =
            alloc::format!("without a path the rule looks at all arguments together, which are no {whose}: add path");
        return Err(PolicyError::invalid(key, what));
    }
    condition::read(document)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]

    use alloc::{format, string::ToString};

    use super::*;

    fn rule(json: &str) -> Result<Rule, String> {
        Rule::read(serde_json::from_str(json).unwrap()).map_err(|error| error.to_string())
    }

    fn fires(verb: &str, path: &str, conditions: &str, arguments: &str) -> bool {
        let json = format!(r#"{{"id": "r", "path": "{path}", "{verb}": {conditions}}}"#);
        evaluate(&[rule(&json).unwrap()], &Json::parse(arguments.as_bytes()).unwrap(), Status::Healthy).is_some()
    }

    #[test]
    fn deny_fires_when_the_value_is_there_and_all_conditions_hold() {
        for verb in ["deny", "ask"] {
            let conditions = r#"{"regex": "^a", "max_length": 2}"#;
            assert!(fires(verb, "x", conditions, r#"{"x": "ab"}"#));
            assert!(!fires(verb, "x", conditions, r#"{"x": "abc"}"#));
            assert!(!fires(verb, "x", conditions, r#"{"x": "b"}"#));
            assert!(!fires(verb, "x", conditions, "{}"));
            assert!(!fires(verb, "x", conditions, r#"{"x": 1}"#));
        }
    }

    #[test]
    fn require_fires_when_the_value_is_absent_or_a_condition_does_not_hold() {
        let conditions = r#"{"regex": "^a", "max_length": 2}"#;
        assert!(!fires("require", "x", conditions, r#"{"x": "ab"}"#));
        assert!(fires("require", "x", conditions, r#"{"x": "abc"}"#));
        assert!(fires("require", "x", conditions, r#"{"x": "b"}"#));
        assert!(fires("require", "x", conditions, "{}"));
        assert!(fires("require", "x", conditions, r#"{"x": 1}"#));
    }

    #[test]
    fn one_item_is_enough_to_fire() {
        let (path, conditions) = ("to[*].mail", r#"{"regex": "@example\\.com$"}"#);
        let good = r#"{"to": [{"mail": "a@example.com"}, {"mail": "b@example.com"}]}"#;
        let mixed = r#"{"to": [{"mail": "a@example.com"}, {"mail": "b@elsewhere.org"}]}"#;
        let absent = r#"{"to": [{"mail": "a@example.com"}, {}]}"#;
        assert!(!fires("require", path, conditions, good));
        assert!(fires("require", path, conditions, mixed) && fires("require", path, conditions, absent));
        assert!(fires("deny", path, conditions, mixed));
        assert!(fires("require", path, conditions, r#"{"to": "a@example.com"}"#));
        assert!(
            !fires("require", path, conditions, r#"{"to": []}"#) && !fires("deny", path, conditions, r#"{"to": []}"#)
        );
    }

    #[test]
    fn conditions_must_hold_for_the_same_item() {
        let conditions = r#"{"regex": "^a", "max_length": 1}"#;
        assert!(!fires("deny", "x[*]", conditions, r#"{"x": ["ab", "c"]}"#));
    }

    #[test]
    fn without_a_path_the_whole_arguments_are_meant() {
        let rules = [rule(r#"{"id": "few", "require": {"max_length": 1}}"#).unwrap()];
        assert!(evaluate(&rules, &Json::parse(br#"{"a": 1}"#).unwrap(), Status::Healthy).is_none());
        assert!(evaluate(&rules, &Json::parse(br#"{"a": 1, "b": 2}"#).unwrap(), Status::Healthy).is_some());
    }

    #[test]
    fn a_refusal_beats_a_question_and_the_first_of_each_wins() {
        let rules = ["ask", "ask", "deny", "require"].iter().enumerate().map(|(n, verb)| {
            let json =
                format!(r#"{{"id": "{verb}-{n}", "path": "{verb}", "{verb}": {{"equals": 1}}, "message": "m{n}"}}"#);
            rule(&json).unwrap()
        });
        let rules = rules.collect::<Vec<_>>();
        let hit = |text: &str| {
            evaluate(&rules, &Json::parse(text.as_bytes()).unwrap(), Status::Healthy)
                .map(|hit| (hit.rule_id.to_string(), hit.kind))
        };
        assert_eq!(hit(r#"{"ask": 1, "require": 1}"#), Some(("ask-0".into(), RuleKind::Ask)));
        assert_eq!(hit(r#"{"ask": 1, "deny": 1}"#), Some(("deny-2".into(), RuleKind::Deny)));
        assert_eq!(hit(r#"{"ask": 1}"#), Some(("require-3".into(), RuleKind::Require)));
        assert_eq!(hit(r#"{"require": 1}"#), None);
        let first = evaluate(&rules, &Json::Null, Status::Healthy);
        assert_eq!(first.and_then(|hit| hit.message), Some("m3"));
    }

    #[test]
    fn a_rule_has_exactly_one_verb_and_at_least_one_condition() {
        assert!(rule(r#"{"id": "r", "path": "x"}"#).unwrap_err().contains("says nothing"));
        let both = r#"{"id": "r", "path": "x", "deny": {"equals": 1}, "ask": {"equals": 1}}"#;
        assert!(rule(both).unwrap_err().contains("more than one"));
        let error = rule(r#"{"id": "r", "path": "x", "ask": {}}"#).unwrap_err();
        assert!(error.starts_with("ask") && error.contains("no condition"), "{error}");
    }

    #[test]
    fn a_rule_with_when_holds_only_while_the_run_is_like_that() {
        let rules = [rule(r#"{"id": "r", "when": ["stalled", "regressing"], "ask": {}}"#).unwrap()];
        let fires = |status| evaluate(&rules, &Json::Null, status).is_some();
        assert!(fires(Status::Stalled) && fires(Status::Regressing));
        assert!(!fires(Status::Healthy) && !fires(Status::Warning));
        assert!(rule(r#"{"id": "r", "when": "stalled", "require": {}}"#).unwrap_err().starts_with("require"));
    }

    #[test]
    fn errors_of_a_rule_name_the_key() {
        assert!(rule(r#"{"id": "", "path": "x", "deny": {"equals": 1}}"#).unwrap_err().starts_with("id: "));
        assert!(rule(r#"{"id": "r", "path": "x[", "deny": {"equals": 1}}"#).unwrap_err().starts_with("path: "));
        assert!(rule(r#"{"id": "r", "path": "x", "deny": {"regex": "("}}"#).unwrap_err().starts_with("deny.regex: "));
        assert!(
            rule(r#"{"id": "r", "require": {"regex": "x"}}"#).unwrap_err().starts_with("require.regex: without a path")
        );
        assert!(
            rule(r#"{"id": "r", "ask": {"range": {"min": 1}}}"#).unwrap_err().starts_with("ask.range: without a path")
        );
    }

    #[test]
    fn a_pattern_can_be_checked_without_a_policy() {
        use crate::policy::PolicyErrorKind::{Invalid, UnsupportedRegex};
        assert_eq!(check_regex("a+"), Ok(()));
        assert_eq!(check_regex("a(?=b)").unwrap_err().kind, UnsupportedRegex);
        assert_eq!(check_regex("a(").unwrap_err().kind, Invalid);
    }
}
