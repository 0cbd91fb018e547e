//! What a schema failure says. Everything in it comes from the schema; nothing from the arguments, which may hold secrets
//! or words meant for the model that reads the refusal.

use std::{
    collections::BTreeSet,
    format,
    string::{String, ToString},
};

use jsonschema::{
    ValidationError,
    error::{TypeKind, ValidationErrorKind as Kind},
    paths::LocationSegment,
};
use serde_json::Value;

use super::text::{one_line, shorten};

/// How much of an `enum`, a `const` or a pattern is quoted.
const QUOTED: usize = 120;
/// How much of a path is shown.
const PATH: usize = 200;

/// Names that the schema itself uses, which are safe to repeat.
pub(super) type Names = BTreeSet<String>;

/// Every argument name that a schema speaks of.
pub(super) fn names(schema: &Value) -> Names {
    let mut names = Names::new();
    collect(schema, &mut names);
    names
}

fn collect(schema: &Value, names: &mut Names) {
    match schema {
        Value::Object(members) => {
            if let Some(Value::Object(properties)) = members.get("properties") {
                names.extend(properties.keys().cloned());
            }
            members.values().for_each(|member| collect(member, names));
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, names)),
        _ => {}
    }
}

/// Where in the arguments, as a JSON pointer, with `*` for a name that the schema does not have.
pub(super) fn path(error: &ValidationError<'_>, names: &Names) -> String {
    let mut path = String::new();
    for segment in error.instance_path().segments() {
        path.push('/');
        match segment {
            LocationSegment::Property(name) if !names.contains(name.as_ref()) => path.push('*'),
            LocationSegment::Property(name) => path.push_str(&name.replace('~', "~0").replace('/', "~1")),
            LocationSegment::Index(index) => path.push_str(&index.to_string()),
        }
    }
    shorten(one_line(&path), PATH)
}

/// What is wrong and where, as a sentence for the model.
pub(super) fn sentence(kind: &Kind, path: &str) -> String {
    let what = what(kind);
    match kind {
        Kind::Required { .. } if path.is_empty() => format!("{what}."),
        Kind::Required { .. } => format!("at {path}, {what}."),
        _ if path.is_empty() => format!("the arguments as a whole: {what}."),
        _ => format!("at {path}: {what}."),
    }
}

fn what(kind: &Kind) -> String {
    match kind {
        Kind::Required { property } => format!("the argument {property} is missing"),
        Kind::Type { kind } => format!("must be {}", types(kind)),
        Kind::Enum { options } => format!("must be one of {}", quote(options)),
        Kind::Constant { expected_value } => format!("must be {}", quote(expected_value)),
        Kind::Pattern { pattern } => format!("must match the pattern {}", shorten(one_line(pattern), QUOTED)),
        Kind::AdditionalProperties { .. } | Kind::UnevaluatedProperties { .. } => {
            "has an argument that the tool does not know".into()
        }
        Kind::AdditionalItems { .. } | Kind::UnevaluatedItems { .. } => "has more items than the tool takes".into(),
        Kind::AnyOf { .. } | Kind::OneOfNotValid { .. } => "fits none of the forms that are allowed here".into(),
        Kind::OneOfMultipleValid { .. } => "fits more than one form where exactly one is allowed".into(),
        Kind::FalseSchema => "is not allowed here".into(),
        Kind::PropertyNames { .. } => "has a name that is not allowed here".into(),
        _ => bound(kind),
    }
}

fn bound(kind: &Kind) -> String {
    match kind {
        Kind::Minimum { limit } => format!("must be at least {limit}"),
        Kind::Maximum { limit } => format!("must be at most {limit}"),
        Kind::ExclusiveMinimum { limit } => format!("must be more than {limit}"),
        Kind::ExclusiveMaximum { limit } => format!("must be less than {limit}"),
        Kind::MultipleOf { multiple_of } => format!("must be a multiple of {multiple_of}"),
        Kind::MinLength { limit } => format!("must have at least {limit} characters"),
        Kind::MaxLength { limit } => format!("must have at most {limit} characters"),
        Kind::MinItems { limit } => format!("must have at least {limit} items"),
        Kind::MaxItems { limit } => format!("must have at most {limit} items"),
        Kind::MinProperties { limit } => format!("must have at least {limit} members"),
        Kind::MaxProperties { limit } => format!("must have at most {limit} members"),
        Kind::UniqueItems => "must not have the same item twice".into(),
        Kind::Contains => "lacks an item of the kind that is wanted".into(),
        Kind::Not { .. } => "has a form that is ruled out".into(),
        _ => format!("does not satisfy {:?}", kind.keyword()),
    }
}

fn types(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(one) => one.to_string(),
        TypeKind::Multiple(set) => set.iter().map(|one| one.to_string()).collect::<std::vec::Vec<_>>().join(" or "),
    }
}

fn quote(value: &Value) -> String {
    shorten(one_line(&value.to_string()), QUOTED)
}
