//! The small JSON documents that the host passes: a tool's declaration, a session's options.

use alloc::{borrow::Cow, format, string::String};

use microloop_core::json::Json;

use crate::status::{Fault, MICROLOOP_INVALID_ARGUMENT, MICROLOOP_NOT_JSON, MICROLOOP_NOT_UTF8};

/// Reads a JSON object that has only these keys.
pub(crate) fn read<'a>(what: &str, text: &'a [u8], keys: &[&str]) -> Result<Json<'a>, Fault> {
    if let Err(error) = core::str::from_utf8(text) {
        let message = format!("{what} is not UTF-8 at byte {}: encode it as UTF-8", error.valid_up_to());
        return Err(Fault::new(MICROLOOP_NOT_UTF8, message));
    }
    let document = Json::parse(text).map_err(|error| {
        let message = format!("{what} is not JSON: {error}");
        Fault::new(MICROLOOP_NOT_JSON, message)
    })?;
    let Json::Object(members) = &document else {
        return Err(wrong(format!("{what} is not a JSON object: pass {}", example(keys))));
    };
    match members.iter().find(|(key, _)| !keys.contains(&key.as_ref())) {
        Some((key, _)) => Err(wrong(format!("{what} has the unknown key {key:?}: the keys are {}", keys.join(", ")))),
        None => Ok(document),
    }
}

/// A member that is text, or none where it is absent or null.
pub(crate) fn text<'d>(what: &str, document: &'d Json<'_>, key: &str) -> Result<Option<&'d str>, Fault> {
    match document.get(key) {
        None | Some(Json::Null) => Ok(None),
        Some(Json::Text(text)) => Ok(Some(text)),
        Some(_) => Err(wrong(format!("{what}: {key} is not a string"))),
    }
}

pub(crate) fn wrong(message: impl Into<Cow<'static, str>>) -> Fault {
    Fault::new(MICROLOOP_INVALID_ARGUMENT, message)
}

fn example(keys: &[&str]) -> String {
    format!("{{{}}}", keys.iter().map(|key| format!("{key:?}: …")).collect::<alloc::vec::Vec<_>>().join(", "))
}
