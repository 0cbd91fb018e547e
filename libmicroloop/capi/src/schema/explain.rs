//! Why a schema does not compile.

use std::{format, string::String};

use jsonschema::{ReferencingError, ValidationError, error::ValidationErrorKind as Kind};
use microloop_core::{policy::PolicyErrorKind, rules::check_regex};

use super::text::{one_line, shorten};
use crate::status::{Fault, MICROLOOP_INVALID_SCHEMA, MICROLOOP_UNSUPPORTED_REGEX};

/// How much of what the validator says is passed on.
const LONGEST: usize = 300;

pub(super) fn fault(error: &ValidationError<'_>) -> Fault {
    match error.kind() {
        Kind::Referencing(ReferencingError::Unretrievable { uri, .. }) => invalid(format!(
            "the JSON Schema refers to {}, and nothing outside it is fetched: put what it refers to under $defs",
            short(uri)
        )),
        Kind::Format { format } if format == "regex" => pattern(error),
        _ => invalid(format!("the JSON Schema is not valid{}: {}", place(error), short(&format!("{error}")))),
    }
}

fn pattern(error: &ValidationError<'_>) -> Fault {
    let instance = error.instance();
    let what = format!("the JSON Schema's pattern {}{}", short(&format!("{instance}")), place(error));
    let unsupported = |text| check_regex(text).is_err_and(|error| error.kind == PolicyErrorKind::UnsupportedRegex);
    if instance.as_str().is_some_and(unsupported) {
        let message =
            format!("{what} needs look-around or backreferences, which no linear-time engine has: rewrite it");
        return Fault::new(MICROLOOP_UNSUPPORTED_REGEX, message);
    }
    invalid(format!("{what} is no regular expression, or a very large one: correct it"))
}

fn invalid(message: String) -> Fault {
    Fault::new(MICROLOOP_INVALID_SCHEMA, message)
}

fn short(text: &str) -> String {
    shorten(one_line(text), LONGEST)
}

fn place(error: &ValidationError<'_>) -> String {
    let path = error.instance_path();
    if path.is_empty() { String::new() } else { format!(" at {path}") }
}
