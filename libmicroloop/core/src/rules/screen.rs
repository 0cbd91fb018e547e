//! Many patterns on one argument, searched for in one go.
//!
//! A policy lists what an argument must not hold, and nearly every call holds none of it. All the patterns of one path together make one
//! screen: where it finds nothing, none of its rules can fire, and they need not be asked one by one.

use alloc::{string::String, sync::Arc, vec::Vec};

use regex::RegexSet;

use super::{Rule, RuleKind, condition::Condition, search};
use crate::json::Json;

/// All patterns of one path in one.
#[derive(Debug)]
pub(super) struct Screen(RegexSet);

/// Gives the rules that can share a screen one. Where the patterns together are too large, they do without.
pub(crate) fn attach(rules: &mut [Rule]) {
    for at in 0..rules.len() {
        let Some(first) = rules.get(at).filter(|rule| rule.screen.is_none() && pattern(rule).is_some()) else {
            continue;
        };
        let path = first.path.clone();
        let mut sharing: Vec<_> =
            rules.iter_mut().skip(at).filter(|rule| rule.path == path && pattern(rule).is_some()).collect();
        let patterns: Vec<_> = sharing.iter().filter_map(|rule| pattern(rule)).collect();
        if patterns.len() < 2 {
            continue;
        }
        let screen = search::compile_all(&patterns).map(|set| Arc::new(Screen(set)));
        for rule in &mut sharing {
            rule.screen.clone_from(&screen);
        }
    }
}

/// The pattern of a rule that can only fire where its pattern is found.
fn pattern(rule: &Rule) -> Option<String> {
    match (rule.kind, rule.conditions.as_slice()) {
        (RuleKind::Deny | RuleKind::Ask, [Condition::Regex(regex)]) => Some(regex.as_str().into()),
        _ => None,
    }
}

/// The latest screen that was looked at, and whether it found something.
#[derive(Default)]
pub(super) struct Screening<'r>(Option<(&'r Arc<Screen>, bool)>);

impl<'r> Screening<'r> {
    /// Whether a rule need not be asked.
    pub(super) fn clears(&mut self, rule: &'r Rule, arguments: &Json<'_>) -> bool {
        let Some(screen) = &rule.screen else { return false };
        if let Some((known, found)) = self.0
            && Arc::ptr_eq(known, screen)
        {
            return !found;
        }
        let finds = |value: Option<&Json<'_>>| matches!(value, Some(Json::Text(text)) if screen.0.is_match(text));
        let found = rule.path.any(arguments, &finds);
        self.0 = Some((screen, found));
        !found
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]

    use crate::{json::Json, policy::Policy, progress::Status, rules::evaluate};

    const POLICY: &[u8] = br#"{"version": 1, "tools": [{"match": "*", "rules": [
        {"id": "drop", "path": "sql", "deny": {"regex": "(?i)drop"}},
        {"id": "ask", "path": "sql", "ask": {"regex": "a|b"}},
        {"id": "elsewhere", "path": "note", "deny": {"regex": "drop"}},
        {"id": "grant", "path": "sql", "deny": {"regex": "(?x) gr ant # a comment"}},
        {"id": "long", "path": "sql", "require": {"max_length": 20}}]}]}"#;

    fn first(arguments: &str) -> Option<alloc::string::String> {
        let policy = Policy::from_json(POLICY).unwrap();
        let tool = policy.tool("query").unwrap();
        assert!(tool.rules.iter().any(|rule| rule.screen.is_some()));
        let arguments = Json::parse(arguments.as_bytes()).unwrap();
        evaluate(&tool.rules, &arguments, Status::Healthy).map(|hit| hit.rule_id.into())
    }

    #[test]
    fn screened_rules_fire_as_they_would_alone() {
        assert_eq!(first(r#"{"sql": "DROP it"}"#).as_deref(), Some("drop"));
        assert_eq!(first(r#"{"sql": "grant"}"#).as_deref(), Some("grant"));
        assert_eq!(first(r#"{"sql": "bob"}"#).as_deref(), Some("ask"));
        assert_eq!(first(r#"{"sql": "xyz", "note": "drop"}"#).as_deref(), Some("elsewhere"));
        assert_eq!(first(r#"{"sql": "xxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}"#).as_deref(), Some("long"));
        assert_eq!(first(r#"{"sql": "xyz", "note": "fine"}"#), None);
        assert_eq!(first(r#"{"sql": 7}"#).as_deref(), Some("long"));
    }
}
