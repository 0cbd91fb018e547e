//! The arguments that a tool expects, in one line for a model:
//! `{"sql": string (required), "limit": integer >= 1}`.

use std::{
    cell::Cell,
    format,
    string::{String, ToString},
    vec::Vec,
};

use serde_json::{Map, Value};

use super::text::{one_line, shorten};

/// Long enough for any sane tool; a schema of pages must not fill the model's context at each mistake.
const LONGEST: usize = 800;
const DEPTH: usize = 6;
/// How many parts are looked at. References can make a small schema describe something huge.
const PARTS: usize = 400;
const ALTERNATIVES: usize = 8;
const QUOTED: usize = 60;

/// Describes what the schema allows.
pub(super) fn describe(schema: &Value) -> String {
    let shape = Shape { root: schema, parts: Cell::new(PARTS) };
    shorten(one_line(&shape.of(schema, DEPTH)), LONGEST)
}

struct Shape<'a> {
    root: &'a Value,
    parts: Cell<usize>,
}

impl Shape<'_> {
    fn of(&self, schema: &Value, depth: usize) -> String {
        let (Some(depth), Some(parts)) = (depth.checked_sub(1), self.parts.get().checked_sub(1)) else {
            return "…".into();
        };
        self.parts.set(parts);
        match schema {
            Value::Bool(false) => "nothing".into(),
            Value::Object(keywords) => self.keywords(keywords, depth),
            _ => "any".into(),
        }
    }

    fn keywords(&self, keywords: &Map<String, Value>, depth: usize) -> String {
        if let Some(target) = keywords.get("$ref").and_then(|to| self.resolve(to)) {
            return self.of(target, depth);
        }
        if let Some(value) = keywords.get("const") {
            return quote(value);
        }
        if let Some(Value::Array(values)) = keywords.get("enum") {
            return join(values.iter().map(quote).collect());
        }
        for keyword in ["anyOf", "oneOf"] {
            if let Some(Value::Array(forms)) = keywords.get(keyword) {
                return join(forms.iter().map(|form| self.of(form, depth)).collect());
            }
        }
        self.typed(keywords, depth)
    }

    fn typed(&self, keywords: &Map<String, Value>, depth: usize) -> String {
        match keywords.get("type") {
            Some(Value::String(name)) => self.of_type(name, keywords, depth),
            Some(Value::Array(names)) => {
                let names = names.iter().filter_map(Value::as_str);
                join(names.map(|name| self.of_type(name, keywords, depth)).collect())
            }
            _ if keywords.contains_key("properties") => self.object(keywords, depth),
            _ => self.whole(keywords, depth),
        }
    }

    /// With `allOf` alone, the first part that says something.
    fn whole(&self, keywords: &Map<String, Value>, depth: usize) -> String {
        let parts = keywords.get("allOf").and_then(Value::as_array).into_iter().flatten();
        parts.map(|part| self.of(part, depth)).find(|part| part != "any").unwrap_or_else(|| "any".into())
    }

    fn of_type(&self, name: &str, keywords: &Map<String, Value>, depth: usize) -> String {
        match name {
            "object" => self.object(keywords, depth),
            "array" => match keywords.get("items") {
                Some(items) => format!("[{}, ...]", self.of(items, depth)),
                None => "array".into(),
            },
            _ => format!("{name}{}", bounds(keywords)),
        }
    }

    fn object(&self, keywords: &Map<String, Value>, depth: usize) -> String {
        let Some(Value::Object(properties)) = keywords.get("properties") else {
            return "object".into();
        };
        let required: Vec<&str> = keywords
            .get("required")
            .and_then(Value::as_array)
            .map(|names| names.iter().filter_map(Value::as_str).collect())
            .unwrap_or_default();
        let is_required = |name: &String| required.contains(&name.as_str());
        let (first, rest): (Vec<_>, Vec<_>) = properties.iter().partition(|(name, _)| is_required(name));
        let mut members: Vec<String> = Vec::new();
        members.extend(first.iter().map(|(name, schema)| format!("{name:?}: {} (required)", self.of(schema, depth))));
        members.extend(rest.iter().map(|(name, schema)| format!("{name:?}: {}", self.of(schema, depth))));
        format!("{{{}}}", members.join(", "))
    }

    fn resolve(&self, reference: &Value) -> Option<&Value> {
        let pointer = reference.as_str()?.strip_prefix('#')?;
        self.root.pointer(pointer)
    }
}

/// The bounds of a number or a string, as far as they are easily said.
fn bounds(keywords: &Map<String, Value>) -> String {
    const WORDS: [(&str, &str); 7] = [
        ("minimum", " >= "),
        ("exclusiveMinimum", " > "),
        ("maximum", " <= "),
        ("exclusiveMaximum", " < "),
        ("minLength", " of length >= "),
        ("maxLength", " of length <= "),
        ("pattern", " matching "),
    ];
    let said = WORDS.iter().filter_map(|(keyword, words)| {
        let value = keywords.get(*keyword).filter(|value| !value.is_boolean())?;
        Some(format!("{words}{}", quote(value)))
    });
    said.collect()
}

fn join(mut alternatives: Vec<String>) -> String {
    if alternatives.len() > ALTERNATIVES {
        alternatives.truncate(ALTERNATIVES);
        alternatives.push("…".into());
    }
    alternatives.dedup();
    alternatives.join(" | ")
}

fn quote(value: &Value) -> String {
    shorten(value.to_string(), QUOTED)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn required_arguments_come_first_with_types_and_bounds() {
        let schema = json!({
            "type": "object",
            "properties": {
                "limit": {"type": "integer", "minimum": 1},
                "sql": {"type": "string"},
                "mode": {"enum": ["fast", "safe"]},
                "tags": {"type": "array", "items": {"type": ["string", "null"]}},
            },
            "required": ["sql"],
        });
        let shape = r#"{"sql": string (required), "limit": integer >= 1, "mode": "fast" | "safe", "tags": [string | null, ...]}"#;
        assert_eq!(describe(&schema), shape);
    }

    #[test]
    fn local_references_are_followed_and_recursion_ends() {
        let schema = json!({
            "$ref": "#/$defs/node",
            "$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}},
        });
        let shape = describe(&schema);
        assert!(shape.starts_with(r#"{"next": {"next": "#), "{shape}");
        assert!(shape.contains('…'));
    }

    #[test]
    fn references_that_multiply_are_cut_short() {
        let properties: Map<String, Value> = (0..100).map(|n| (format!("{n}"), json!({"$ref": "#"}))).collect();
        assert!(describe(&json!({"type": "object", "properties": properties})).contains('…'));
    }

    #[test]
    fn a_schema_of_pages_is_cut() {
        let properties: Map<String, Value> =
            (0..1_000).map(|n| (format!("argument_{n}"), json!({"type": "string"}))).collect();
        let shape = describe(&json!({"type": "object", "properties": properties}));
        assert_eq!(shape.chars().count(), LONGEST + 1);
    }

    #[test]
    fn what_says_nothing_is_any_and_false_is_nothing() {
        assert_eq!(describe(&json!({})), "any");
        assert_eq!(describe(&json!(true)), "any");
        assert_eq!(describe(&json!(false)), "nothing");
        assert_eq!(describe(&json!({"allOf": [{}, {"type": "number", "exclusiveMinimum": 0}]})), "number > 0");
    }
}
