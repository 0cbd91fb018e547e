//! One entry of a policy's `tools`: which tools it is for, and what it says otherwise than those before it.

use alloc::{
    collections::BTreeMap,
    format,
    string::{String, ToString},
    vec::Vec,
};

use serde_json::Value;

use super::{
    Limit, Loops, OnError, PolicyError, Poll, Tool,
    document::{LimitDocument, LoopsDocument, PollDocument, RuleDocument, Switch, ToolDocument},
    error::quoted,
    messages,
    strict::{Section, Word},
};
use crate::{
    budget,
    pattern::Names,
    policy::Effect,
    rules::{Rule, screen},
};

/// A checked entry.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    names: Names,
    effect: Switch<Word<Effect>>,
    poll: Switch<Section<PollDocument>>,
    volatile: Option<Names>,
    cursor: Option<Names>,
    loop_key: Option<Names>,
    loops: LoopsDocument,
    limit: Switch<Section<LimitDocument>>,
    schema: Option<String>,
    rules: Vec<Rule>,
    messages: BTreeMap<String, String>,
    on_error: Option<Word<OnError>>,
}

impl Entry {
    /// Reads an entry of a policy with these loop limits; the errors begin with the key in the entry.
    pub(super) fn read(Section(document): Section<ToolDocument>, loops: &Loops) -> Result<Self, PolicyError> {
        if document.names.is_empty() {
            let what = "the list is empty and no tool is meant: add a name, or \"*\" for every tool";
            return Err(PolicyError::invalid("match", what));
        }
        let entry = Self {
            names: document.names,
            effect: document.effect,
            poll: document.poll,
            volatile: document.volatile,
            cursor: document.cursor,
            loop_key: document.loop_key,
            loops: checked_loops(document.loops)?,
            limit: document.limit.map(checked_limit).transpose()?,
            schema: document.arguments.map(|schema| schema_text(&schema)).transpose()?,
            rules: read_rules(document.rules)?,
            messages: messages::read(document.messages)?,
            on_error: document.on_error,
        };
        entry.amended(loops)?;
        Ok(entry)
    }

    /// Whether the entry is for this tool.
    pub(super) fn is_for(&self, tool: &str) -> bool {
        self.names.matches(tool)
    }

    /// Writes what the entry says over what the ones before it said.
    pub(super) fn apply(&self, tool: &mut Tool) -> Result<(), PolicyError> {
        tool.loops = self.amended(&tool.loops)?;
        tool.effect = self.effect.map_or(tool.effect, |effect| effect.map(|Word(effect)| effect));
        self.apply_poll(tool);
        self.apply_limit(tool);
        replace(&mut tool.volatile, self.volatile.as_ref());
        replace(&mut tool.cursor, self.cursor.as_ref());
        replace(&mut tool.loop_key, self.loop_key.as_ref());
        tool.argument_schemas.extend(self.schema.clone());
        self.rules.iter().for_each(|rule| add_rule(&mut tool.rules, rule));
        tool.messages.extend(self.messages.clone());
        tool.on_error = self.on_error.map_or(tool.on_error, |Word(on_error)| on_error);
        Ok(())
    }

    fn amended(&self, loops: &Loops) -> Result<Loops, PolicyError> {
        loops.amended(&self.loops).map_err(|error| error.within("loops"))
    }

    fn apply_poll(&self, tool: &mut Tool) {
        let Some(poll) = self.poll else { return };
        tool.poll = poll.map(|Section(PollDocument { deadline, interval })| {
            let before = tool.poll.unwrap_or_default();
            Poll {
                deadline_ms: deadline.map_or(before.deadline_ms, |span| span.map(|span| span.ms)),
                interval_ms: interval.map_or(before.interval_ms, |span| span.map(|span| span.ms)),
            }
        });
    }

    fn apply_limit(&self, tool: &mut Tool) {
        let Some(limit) = self.limit else { return };
        tool.limit = limit.map(|Section(LimitDocument { calls, per_minute })| {
            let before = tool.limit.unwrap_or_default();
            Limit { calls: calls.unwrap_or(before.calls), per_minute: per_minute.unwrap_or(before.per_minute) }
        });
    }
}

fn replace(names: &mut Names, by: Option<&Names>) {
    if let Some(by) = by {
        names.clone_from(by);
    }
}

/// A rule with the id of an earlier one takes its place.
fn add_rule(rules: &mut Vec<Rule>, rule: &Rule) {
    match rules.iter_mut().find(|earlier| earlier.id() == rule.id()) {
        Some(earlier) => earlier.clone_from(rule),
        None => rules.push(rule.clone()),
    }
}

fn checked_loops(section: Option<Section<LoopsDocument>>) -> Result<LoopsDocument, PolicyError> {
    let loops = section.map_or_else(LoopsDocument::default, |Section(loops)| loops);
    let of_the_session = [
        ("scope", loops.scope.is_some()),
        ("text", loops.text.is_some()),
        ("refused", loops.refused.is_some()),
        ("learned", loops.learned.is_some()),
    ];
    match of_the_session.into_iter().find(|(_, given)| *given) {
        None => Ok(loops),
        Some((key, _)) => {
            let what = "it is the same for all tools: move it to the policy's own loops";
            Err(PolicyError::invalid(key, what).within("loops"))
        }
    }
}

type Optional<T> = Option<Section<T>>;

fn checked_limit(limit: Optional<LimitDocument>) -> Result<Optional<LimitDocument>, PolicyError> {
    if let Some(Section(LimitDocument { calls, per_minute })) = limit {
        budget::check_limits(calls.flatten(), per_minute.flatten()).map_err(|error| error.within("limit"))?;
    }
    Ok(limit)
}

fn schema_text(schema: &Value) -> Result<String, PolicyError> {
    if schema.is_object() || schema.is_boolean() {
        return Ok(schema.to_string());
    }
    let what = format!("{} is no JSON Schema: write an object", quoted(&schema.to_string()));
    Err(PolicyError::invalid("arguments", what))
}

fn read_rules(documents: Vec<Section<RuleDocument>>) -> Result<Vec<Rule>, PolicyError> {
    let mut rules = Vec::<Rule>::new();
    for (at, document) in documents.into_iter().enumerate() {
        let rule = Rule::read(document).map_err(|error| error.within(format!("rules[{at}]")))?;
        if rules.iter().any(|earlier| earlier.id() == rule.id()) {
            let what = format!("{} is the id of another rule of this entry: rename one", quoted(rule.id()));
            return Err(PolicyError::invalid("id", what).within(format!("rules[{at}]")));
        }
        rules.push(rule);
    }
    screen::attach(&mut rules);
    Ok(rules)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]

    use alloc::vec;

    use super::{super::Levels, *};
    use crate::progress::Status;

    fn entry(json: &str) -> Result<Entry, String> {
        Entry::read(serde_json::from_str(json).unwrap(), &Loops::default()).map_err(|error| error.message)
    }

    fn merged(entries: &[&str]) -> Tool {
        let mut tool = Tool::default();
        for json in entries {
            entry(json).unwrap().apply(&mut tool).unwrap();
        }
        tool
    }

    fn rule_ids(tool: &Tool) -> Vec<&str> {
        tool.rules.iter().map(Rule::id).collect()
    }

    #[test]
    fn the_later_entry_wins_field_by_field() {
        let tool = merged(&[
            r#"{"match": "*", "effect": "read", "volatile": "a", "cursor": "page", "on_error": "allow"}"#,
            r#"{"match": "x", "effect": "write", "volatile": ["b"]}"#,
        ]);
        assert_eq!((tool.effect, tool.on_error), (Some(Effect::Write), OnError::Allow));
        assert!(tool.is_volatile("b") && !tool.is_volatile("a") && tool.cursor.matches("page"));
    }

    #[test]
    fn null_takes_back_what_an_earlier_entry_said() {
        let tool = merged(&[
            r#"{"match": "*", "effect": "read", "poll": {"interval": 1}, "limit": {"calls": 3}}"#,
            r#"{"match": "*", "effect": null, "poll": null, "limit": null}"#,
        ]);
        assert_eq!((tool.effect, tool.poll, tool.limit), (None, None, None));
    }

    #[test]
    fn polls_limits_and_levels_are_merged_inside_too() {
        let tool = merged(&[
            r#"{"match": "*", "poll": {"interval": 1, "deadline": "1m"}, "limit": {"calls": 3, "per_minute": 2},
                "loops": {"repeat": {"warn": 2, "block": 4}}}"#,
            r#"{"match": "*", "poll": {"deadline": null}, "limit": {"calls": 5}, "loops": {"repeat": {"block": null, "halt": 9}}}"#,
        ]);
        assert_eq!(tool.poll, Some(Poll { deadline_ms: None, interval_ms: Some(1_000) }));
        assert_eq!(tool.limit, Some(Limit { calls: Some(5), per_minute: Some(2) }));
        assert_eq!(tool.loops.repeat, Levels { warn: Some(2), block: None, halt: Some(9) });
    }

    #[test]
    fn rules_add_up_and_the_same_id_takes_the_place() {
        let tool = merged(&[
            r#"{"match": "*", "rules": [{"id": "a", "path": "x", "deny": {"equals": 1}}, {"id": "b", "path": "x", "deny": {"equals": 2}}]}"#,
            r#"{"match": "*", "rules": [{"id": "c", "path": "x", "deny": {"equals": 3}}, {"id": "a", "path": "x", "ask": {"equals": 4}}]}"#,
        ]);
        assert_eq!(rule_ids(&tool), vec!["a", "b", "c"]);
        let arguments = crate::json::Json::parse(br#"{"x": 4}"#).unwrap();
        assert_eq!(crate::rules::evaluate(&tool.rules, &arguments, Status::Healthy).unwrap().rule_id, "a");
    }

    #[test]
    fn messages_are_merged_by_reason_and_schemas_are_kept_side_by_side() {
        let tool = merged(&[
            r#"{"match": "*", "messages": {"loop.repeat": "one", "loop.cycle": "two"}, "arguments": {"type": "object"}}"#,
            r#"{"match": "*", "messages": {"loop.repeat": "three"}, "arguments": true}"#,
        ]);
        assert_eq!(tool.messages.values().collect::<Vec<_>>(), ["two", "three"]);
        assert_eq!(tool.argument_schemas, [r#"{"type":"object"}"#, "true"]);
    }

    #[test]
    fn an_entry_that_says_nothing_useful_is_an_error_that_names_the_key() {
        for (json, start) in [
            (r#"{"match": []}"#, "match: the list is empty"),
            (r#"{"match": "x", "limit": {"calls": 0}}"#, "limit.calls: 0"),
            (r#"{"match": "x", "limit": {"per_minute": 99999}}"#, "limit.per_minute: 99999"),
            (r#"{"match": "x", "arguments": 7}"#, "arguments: \"7\" is no JSON Schema"),
            (r#"{"match": "x", "loops": {"scope": "turn"}}"#, "loops.scope: "),
            (r#"{"match": "x", "loops": {"text": null}}"#, "loops.text: "),
            (r#"{"match": "x", "loops": {"repeat": {"block": 1}}}"#, "loops.repeat.block: 1 is too low"),
            (r#"{"match": "x", "messages": {"nope": "x"}}"#, "messages: \"nope\""),
            (r#"{"match": "x", "rules": [{"id": "a", "path": "x", "deny": {"regex": "("}}]}"#, "rules[0].deny.regex: "),
        ] {
            let error = entry(json).unwrap_err();
            assert!(error.starts_with(start), "{error}");
        }
    }

    #[test]
    fn two_rules_of_one_entry_with_the_same_id_are_an_error() {
        let rule = r#"{"id": "a", "path": "x", "deny": {"equals": 1}}"#;
        let error = entry(&format!(r#"{{"match": "x", "rules": [{rule}, {rule}]}}"#)).unwrap_err();
        assert!(error.starts_with("rules[1].id: \"a\" is the id of another rule"), "{error}");
    }
}
