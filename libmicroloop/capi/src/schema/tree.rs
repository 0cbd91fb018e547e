//! The core's JSON tree as the validator sees it: no copy is made of arguments that are fine.

use std::{borrow::Cow, iter::Map as Mapped, slice::Iter, string::String, vec::Vec};

use jsonschema::{
    JsonType,
    json::{Array, Json as Representation, JsonNumber, Node, NodeIdentity, Object, cmp},
};
use microloop_core::json::{Json, Number};
use serde_json::Value;

/// Validates [`Json`].
#[derive(Debug)]
pub(crate) struct Tree;

type Member<'a> = (Cow<'a, str>, Json<'a>);

impl Representation for Tree {
    type Node<'a> = &'a Json<'a>;
    type PreparedKey = String;
    type StringBuffer = ();

    // A look-up scans the members, so that for more than a few of them one pass over all is cheaper.
    const KEYS_PER_LOOKUP: usize = 4;
    const ACYCLIC: bool = true;

    fn prepare_key(key: &str) -> String {
        key.into()
    }

    fn with_string_node<T>((): &mut (), string: &str, f: impl FnOnce(Self::Node<'_>) -> T) -> T {
        f(&Json::Text(Cow::Borrowed(string)))
    }
}

impl<'a> Node<'a, Tree> for &'a Json<'a> {
    type Object = &'a [Member<'a>];
    type Array = &'a [Json<'a>];
    type Number = Value64;

    fn as_object(&self) -> Option<Self::Object> {
        match self {
            Json::Object(members) => Some(members),
            _ => None,
        }
    }

    fn as_array(&self) -> Option<Self::Array> {
        match self {
            Json::Array(items) => Some(items),
            _ => None,
        }
    }

    fn as_string(&self) -> Option<Cow<'a, str>> {
        match self {
            Json::Text(text) => Some(Cow::Borrowed(text)),
            _ => None,
        }
    }

    fn as_number(&self) -> Option<Value64> {
        match self {
            Json::Number(number) => Some(Value64(*number)),
            _ => None,
        }
    }

    fn as_boolean(&self) -> Option<bool> {
        match self {
            Json::Bool(flag) => Some(*flag),
            _ => None,
        }
    }

    fn is_null(&self) -> bool {
        matches!(self, Json::Null)
    }

    fn json_type(&self) -> JsonType {
        match self {
            Json::Null => JsonType::Null,
            Json::Bool(_) => JsonType::Boolean,
            Json::Number(_) => JsonType::Number,
            Json::Text(_) => JsonType::String,
            Json::Array(_) => JsonType::Array,
            Json::Object(_) => JsonType::Object,
        }
    }

    fn equals_value(&self, expected: &Value) -> bool {
        match (self, expected) {
            (Json::Text(text), Value::String(wanted)) => text == wanted,
            (Json::Text(_), _) => false,
            _ => cmp::equal(&value(self), expected),
        }
    }

    fn to_value(&self) -> Cow<'a, Value> {
        Cow::Owned(value(self))
    }

    fn identity(&self) -> Option<NodeIdentity> {
        Some(NodeIdentity::new(core::ptr::from_ref::<Json<'a>>(self).addr()))
    }
}

impl<'a> Object<'a, Tree> for &'a [Member<'a>] {
    type Node = &'a Json<'a>;
    type MemberName = &'a str;
    type MembersIter = Mapped<Iter<'a, Member<'a>>, fn(&'a Member<'a>) -> (&'a str, &'a Json<'a>)>;

    fn len(&self) -> usize {
        <[Member<'a>]>::len(self)
    }

    fn get(&self, key: &String) -> Option<&'a Json<'a>> {
        self.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    fn members(&self) -> Self::MembersIter {
        self.iter().map(|(name, value)| (name.as_ref(), value))
    }
}

impl<'a> Array<'a, Tree> for &'a [Json<'a>] {
    type Node = &'a Json<'a>;
    type ElementsIter = Iter<'a, Json<'a>>;

    fn len(&self) -> usize {
        <[Json<'a>]>::len(self)
    }

    fn elements(&self) -> Iter<'a, Json<'a>> {
        self.iter()
    }
}

/// A number as the validator reads it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Value64(Number);

impl JsonNumber for Value64 {
    fn as_u64(&self) -> Option<u64> {
        match self.0 {
            Number::Unsigned(n) => Some(n),
            _ => None,
        }
    }

    fn as_i64(&self) -> Option<i64> {
        match self.0 {
            Number::Unsigned(n) => i64::try_from(n).ok(),
            Number::Signed(n) => Some(n),
            Number::Float(_) => None,
        }
    }

    fn as_f64(&self) -> Option<f64> {
        Some(self.0.as_f64())
    }

    fn as_str(&self) -> Cow<'_, str> {
        Cow::Owned(std::format!("{}", number(self.0)))
    }

    fn to_number(&self) -> Cow<'_, serde_json::Number> {
        Cow::Owned(number(self.0))
    }

    fn is_integer(&self) -> bool {
        match self.0 {
            Number::Unsigned(_) | Number::Signed(_) => true,
            Number::Float(x) => x.fract() == 0.0,
        }
    }

    /// `1.0` was read as `1`, so draft 4, to which they differ, takes it for an integer like the later drafts.
    fn is_written_as_integer(&self) -> bool {
        self.is_integer()
    }
}

/// A copy in `serde_json`'s own form.
pub(crate) fn value(tree: &Json<'_>) -> Value {
    match tree {
        Json::Null => Value::Null,
        Json::Bool(flag) => Value::Bool(*flag),
        Json::Number(n) => Value::Number(number(*n)),
        Json::Text(text) => Value::String(text.clone().into_owned()),
        Json::Array(items) => Value::Array(items.iter().map(value).collect::<Vec<_>>()),
        Json::Object(members) => {
            let copies = members.iter().map(|(key, item)| (key.clone().into_owned(), value(item)));
            Value::Object(copies.collect())
        }
    }
}

fn number(number: Number) -> serde_json::Number {
    match number {
        Number::Unsigned(n) => n.into(),
        Number::Signed(n) => n.into(),
        // The core reads no infinities, so 0 never stands in for one.
        Number::Float(x) => serde_json::Number::from_f64(x).unwrap_or_else(|| 0.into()),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]

    use super::*;

    #[test]
    fn the_validators_own_contract_holds() {
        let text = serde_json::to_vec(&jsonschema::json::conformance::document()).unwrap();
        let tree = Json::parse(&text).unwrap();
        jsonschema::json::conformance::assert_conformance::<Tree>(&&tree);
    }
}
