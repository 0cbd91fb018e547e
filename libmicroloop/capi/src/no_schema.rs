//! In place of schema.rs without std: a JSON Schema that is asked for is refused, never passed over.

use alloc::boxed::Box;

use microloop_core::{
    json::Json,
    policy::{ArgumentSchema, Tool},
};
use serde::{Deserialize, de::IgnoredAny};

use crate::status::{Fault, MICROLOOP_NO_SCHEMA_SUPPORT};

/// No schemas.
#[derive(Debug)]
pub(crate) struct Schemas;

#[derive(Deserialize)]
struct Document {
    #[serde(default)]
    tools: alloc::vec::Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    arguments: Option<IgnoredAny>,
}

impl Schemas {
    pub(crate) fn of_policy(json: &[u8]) -> Result<Self, Fault> {
        let document: Option<Document> = serde_json::from_slice(json).ok();
        let asked = document.is_none_or(|document| document.tools.iter().any(|entry| entry.arguments.is_some()));
        if asked { Err(refusal()) } else { Ok(Self) }
    }

    #[expect(clippy::unused_self, reason = "the same call as in schema.rs")]
    pub(crate) fn of_tool(&self, _: &Tool, own: Option<&Json<'_>>) -> Result<Option<Box<dyn ArgumentSchema>>, Fault> {
        if own.is_some() { Err(refusal()) } else { Ok(None) }
    }
}

fn refusal() -> Fault {
    let message = "a JSON Schema is asked for, and this build of libmicroloop (no_std) has none: leave it out, or use the build with std";
    Fault::new(MICROLOOP_NO_SCHEMA_SUPPORT, message)
}
