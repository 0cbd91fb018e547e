//! Comparing the JSON of a call with the constants of a rule.

use alloc::{borrow::Cow, string::String};
use core::cmp::Ordering;

use serde_json::Value;

use crate::json::{Json, Number};

/// A constant of a rule, in the form that the arguments of a call have; `None` for a number that no call can have.
pub(crate) fn constant(value: Value) -> Option<Json<'static>> {
    Some(match value {
        Value::Null => Json::Null,
        Value::Bool(value) => Json::Bool(value),
        Value::Number(number) => Json::Number(from_serde(&number)?),
        Value::String(text) => Json::Text(Cow::Owned(text)),
        Value::Array(items) => Json::Array(items.into_iter().map(constant).collect::<Option<_>>()?),
        Value::Object(members) => Json::object(members.into_iter().map(member).collect::<Option<_>>()?),
    })
}

fn member((key, value): (String, Value)) -> Option<(Cow<'static, str>, Json<'static>)> {
    Some((Cow::Owned(key), constant(value)?))
}

fn from_serde(number: &serde_json::Number) -> Option<Number> {
    let unsigned = number.as_u64().map(Number::Unsigned);
    unsigned.or_else(|| number.as_i64().map(Number::from_i64)).or_else(|| number.as_f64().map(Number::from_f64))
}

/// Whether two values are the same JSON: `1` is `1.0`, the order of keys does not matter, the order of items does.
pub(crate) fn same(a: &Json<'_>, b: &Json<'_>) -> bool {
    match (a, b) {
        (Json::Number(a), Json::Number(b)) => order(*a, *b) == Some(Ordering::Equal),
        (Json::Array(a), Json::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        // Both are sorted by key.
        (Json::Object(a), Json::Object(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|((key, a), (name, b))| key == name && same(a, b))
        }
        _ => a == b,
    }
}

/// Integers are compared with all their digits, anything else as doubles.
pub(crate) fn order(a: Number, b: Number) -> Option<Ordering> {
    match (whole(a), whole(b)) {
        (Some(a), Some(b)) => Some(a.cmp(&b)),
        _ => a.as_f64().partial_cmp(&b.as_f64()),
    }
}

fn whole(number: Number) -> Option<i128> {
    match number {
        Number::Unsigned(n) => Some(n.into()),
        Number::Signed(n) => Some(n.into()),
        Number::Float(_) => None,
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]

    use super::*;

    fn equal(constant_text: &str, text: &str) -> bool {
        let value = serde_json::from_str(constant_text).unwrap();
        same(&constant(value).unwrap(), &Json::parse(text.as_bytes()).unwrap())
    }

    #[test]
    fn a_number_is_the_same_however_it_is_written() {
        assert!(equal("1", "1.0") && equal("1.0", "1") && equal("-0.0", "0") && equal("1e16", "10000000000000000"));
        assert!(!equal("1", "1.5") && !equal("1", "\"1\"") && !equal("1", "true"));
    }

    #[test]
    fn large_integers_differ_in_their_last_digit() {
        assert!(!equal("9007199254740993", "9007199254740992"));
        assert!(equal("18446744073709551615", "18446744073709551615"));
    }

    #[test]
    fn objects_are_the_same_whatever_the_order_of_their_keys() {
        assert!(equal(r#"{"a": [1, null], "b": {"c": "x"}}"#, r#"{"b": {"c": "x"}, "a": [1.0, null]}"#));
        assert!(!equal(r#"{"a": 1}"#, r#"{"a": 1, "b": 2}"#));
        assert!(!equal(r#"{"a": 1}"#, r#"{"b": 1}"#));
    }

    #[test]
    fn arrays_are_the_same_in_order_only() {
        assert!(equal("[1, 2]", "[1, 2]"));
        assert!(!equal("[1, 2]", "[2, 1]") && !equal("[1, 2]", "[1, 2, 3]"));
    }
}
