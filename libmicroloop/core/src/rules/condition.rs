//! What a rule asks of a value. A condition holds or it does not; whether that is good is for the rule to say.

use alloc::{format, sync::Arc, vec::Vec};
use core::cmp::Ordering;

use regex::Regex;

use super::{constant, search};
use crate::{
    json::{Json, Number},
    policy::{
        PolicyError,
        document::{ConditionsDocument, RangeDocument},
        strict::Section,
    },
};

/// One condition. Shared patterns keep their working memory in one place, however many tools use the rule.
#[derive(Debug, Clone)]
pub(crate) enum Condition {
    /// Characters of a string, items of an array, members of an object
    MaxLength(usize),
    Range(Range),
    Equals(Json<'static>),
    OneOf(Vec<Json<'static>>),
    /// Found somewhere in a string
    Regex(Arc<Regex>),
}

/// Inclusive at both ends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Range {
    min: Option<Number>,
    max: Option<Number>,
}

impl Condition {
    pub(crate) fn holds(&self, value: &Json<'_>) -> bool {
        match self {
            Self::MaxLength(limit) => is_within_length(value, *limit),
            Self::Range(range) => range.holds(value),
            Self::Equals(constant) => constant::same(constant, value),
            Self::OneOf(constants) => constants.iter().any(|constant| constant::same(constant, value)),
            Self::Regex(regex) => matches!(value, Json::Text(text) if regex.is_match(text)),
        }
    }
}

impl Range {
    fn holds(self, value: &Json<'_>) -> bool {
        let Json::Number(number) = value else {
            return false;
        };
        let is_at_least = |min| matches!(constant::order(*number, min), Some(Ordering::Greater | Ordering::Equal));
        let is_at_most = |max| matches!(constant::order(*number, max), Some(Ordering::Less | Ordering::Equal));
        self.min.is_none_or(is_at_least) && self.max.is_none_or(is_at_most)
    }
}

/// A value without a length (a number, `true`, `null`) is within none.
fn is_within_length(value: &Json<'_>, limit: usize) -> bool {
    match value {
        // A character has one to four bytes: most texts need no counting.
        Json::Text(text) => text.len() <= limit || (text.len() / 4 <= limit && text.chars().count() <= limit),
        Json::Array(items) => items.len() <= limit,
        Json::Object(members) => members.len() <= limit,
        _ => false,
    }
}

/// Reads the conditions of a rule, the cheapest first.
pub(crate) fn read(document: ConditionsDocument) -> Result<Vec<Condition>, PolicyError> {
    let ConditionsDocument { regex, equals, one_of, range, max_length } = document;
    let mut conditions = Vec::new();
    conditions.extend(max_length.map(read_max_length));
    conditions.extend(range.map(read_range).transpose()?);
    conditions.extend(equals.map(|value| read_constant("equals", value)).transpose()?.map(Condition::Equals));
    conditions.extend(one_of.map(read_one_of).transpose()?);
    conditions.extend(regex.map(|pattern| read_regex(&pattern)).transpose()?);
    Ok(conditions)
}

fn read_max_length(limit: u64) -> Condition {
    Condition::MaxLength(usize::try_from(limit).unwrap_or(usize::MAX))
}

fn read_range(Section(RangeDocument { min, max }): Section<RangeDocument>) -> Result<Condition, PolicyError> {
    let range = Range { min: min.as_ref().and_then(read_number), max: max.as_ref().and_then(read_number) };
    let what = match (range.min, range.max) {
        (None, None) => "it has neither min nor max: give at least one".into(),
        (Some(min), Some(max)) if constant::order(min, max) == Some(Ordering::Greater) => {
            format!("min {} is above max {}, no number is in between: swap them", min.as_f64(), max.as_f64())
        }
        _ => return Ok(Condition::Range(range)),
    };
    Err(PolicyError::invalid("range", what))
}

fn read_number(number: &serde_json::Number) -> Option<Number> {
    match constant::constant(serde_json::Value::Number(number.clone())) {
        Some(Json::Number(number)) => Some(number),
        _ => None,
    }
}

fn read_constant(place: &str, value: serde_json::Value) -> Result<Json<'static>, PolicyError> {
    constant::constant(value)
        .ok_or_else(|| PolicyError::invalid(place, "it is no JSON value that a call can have: correct it"))
}

fn read_one_of(values: Vec<serde_json::Value>) -> Result<Condition, PolicyError> {
    if values.is_empty() {
        return Err(PolicyError::invalid("one_of", "the list is empty and no value is in it: add one"));
    }
    let constants = values.into_iter().map(|value| read_constant("one_of", value));
    constants.collect::<Result<_, _>>().map(Condition::OneOf)
}

fn read_regex(pattern: &str) -> Result<Condition, PolicyError> {
    search::compile(pattern).map(|regex| Condition::Regex(Arc::new(regex)))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]

    use alloc::string::{String, ToString};

    use super::*;

    fn conditions(json: &str) -> Result<Vec<Condition>, String> {
        read(serde_json::from_str(json).unwrap()).map_err(|error| error.to_string())
    }

    fn holds(json: &str, value: &str) -> bool {
        let value = Json::parse(value.as_bytes()).unwrap();
        conditions(json).unwrap().iter().all(|condition| condition.holds(&value))
    }

    #[test]
    fn regex_searches_in_strings_and_never_holds_for_other_values() {
        assert!(holds(r#"{"regex": "(?i)drop"}"#, r#""a DROP b""#));
        assert!(!holds(r#"{"regex": "^drop"}"#, r#""a drop""#));
        assert!(
            !holds(r#"{"regex": "1"}"#, "1")
                && !holds(r#"{"regex": ""}"#, "null")
                && !holds(r#"{"regex": ""}"#, r#"["x"]"#)
        );
    }

    #[test]
    fn equals_compares_json_values() {
        assert!(holds(r#"{"equals": 1}"#, "1.0") && holds(r#"{"equals": {"a": [1]}}"#, r#"{"a": [1]}"#));
        assert!(holds(r#"{"equals": null}"#, "null") && !holds(r#"{"equals": null}"#, "0"));
        assert!(!holds(r#"{"equals": "1"}"#, "1"));
    }

    #[test]
    fn one_of_holds_for_any_of_its_values() {
        let json = r#"{"one_of": ["a", 2, null]}"#;
        assert!(holds(json, r#""a""#) && holds(json, "2.0") && holds(json, "null"));
        assert!(!holds(json, r#""b""#) && !holds(json, r#"["a"]"#));
    }

    #[test]
    fn range_includes_both_ends_and_holds_for_numbers_only() {
        let json = r#"{"range": {"min": -1, "max": 2.5}}"#;
        assert!(holds(json, "-1") && holds(json, "2.5") && holds(json, "0"));
        assert!(!holds(json, "-1.1") && !holds(json, "3") && !holds(json, r#""1""#) && !holds(json, "null"));
        assert!(holds(r#"{"range": {"min": 5}}"#, "1e300") && !holds(r#"{"range": {"max": 5}}"#, "1e300"));
        assert!(!holds(r#"{"range": {"max": 18446744073709551614}}"#, "18446744073709551615"));
    }

    #[test]
    fn max_length_counts_characters_items_and_members() {
        let json = r#"{"max_length": 2}"#;
        assert!(holds(json, r#""😀ß""#) && holds(json, "[1, 2]") && holds(json, r#"{"a": 1, "b": 2}"#));
        assert!(!holds(json, r#""abc""#) && !holds(json, r#""ßßß""#) && !holds(json, "[1, 2, 3]"));
        assert!(!holds(json, r#"{"a": 1, "b": 2, "c": 3}"#) && !holds(json, "1") && !holds(json, "null"));
    }

    #[test]
    fn several_conditions_must_all_hold() {
        let json = r#"{"regex": "^[a-z]+$", "max_length": 3}"#;
        assert!(holds(json, r#""abc""#));
        assert!(!holds(json, r#""abcd""#) && !holds(json, r#""ab1""#));
    }

    #[test]
    fn conditions_that_can_never_hold_are_errors() {
        assert!(conditions(r#"{"one_of": []}"#).unwrap_err().starts_with("one_of: the list is empty"));
        assert!(conditions(r#"{"range": {}}"#).unwrap_err().starts_with("range: it has neither"));
        assert!(
            conditions(r#"{"range": {"min": 2, "max": 1}}"#).unwrap_err().starts_with("range: min 2 is above max 1")
        );
        assert!(conditions(r#"{"regex": "("}"#).unwrap_err().starts_with("regex: "));
    }
}
