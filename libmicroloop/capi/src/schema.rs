//! JSON Schema for the arguments of tools.
//!
//! Schemas come from third parties too (a tool server sends its own), so compiling one fetches nothing, and matching
//! one takes linear time. Drafts 2020-12, 2019-09, 7, 6 and 4, as `$schema` says; 2020-12 where it says nothing.
//! `format` is an annotation, as the current drafts have it.

mod all;
mod explain;
mod failure;
mod shape;
mod text;
mod tree;

use std::{boxed::Box, collections::BTreeMap, error::Error, format, string::String, sync::Arc, vec::Vec};

use jsonschema::{PatternOptions, Retrieve, Uri, Validator};
use microloop_core::{
    json::Json,
    policy::{ArgumentSchema, SchemaFailure, Tool},
};
use serde::Deserialize;
use serde_json::Value;

use self::{all::All, failure::Names, tree::Tree};
use crate::status::{Fault, MICROLOOP_INVALID_POLICY, MICROLOOP_INVALID_SCHEMA};

/// How large the automaton of a pattern may be, in bytes.
const PATTERN_SIZE: usize = 1 << 21;

/// The schemas that a policy has for its tools, by their text.
#[derive(Debug)]
pub(crate) struct Schemas(BTreeMap<String, Arc<Schema>>);

/// The part of a policy document that the core leaves to us.
#[derive(Deserialize)]
struct Document {
    #[serde(default)]
    tools: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    arguments: Option<Value>,
}

impl Schemas {
    /// Compiles all of them at once: a policy that loads has no surprises left.
    pub(crate) fn of_policy(json: &[u8]) -> Result<Self, Fault> {
        let document: Document = serde_json::from_slice(json)
            .map_err(|error| Fault::new(MICROLOOP_INVALID_POLICY, format!("policy: {error}: correct that value")))?;
        let mut schemas = BTreeMap::new();
        for (at, entry) in document.tools.iter().enumerate() {
            if let Some(schema) = &entry.arguments {
                let compiled = Schema::compile(schema).map_err(|fault| within(at, &fault))?;
                schemas.insert(format!("{schema}"), Arc::new(compiled));
            }
        }
        Ok(Self(schemas))
    }

    /// What the arguments of a tool must satisfy: each schema of the policy for it, and its own.
    pub(crate) fn of_tool(
        &self,
        tool: &Tool,
        own: Option<&Json<'_>>,
    ) -> Result<Option<Box<dyn ArgumentSchema>>, Fault> {
        let mut schemas = Vec::new();
        for text in &tool.argument_schemas {
            let known = self.0.get(text).ok_or_else(|| lost(&tool.name))?;
            schemas.push(Arc::clone(known));
        }
        if let Some(own) = own {
            schemas.push(Arc::new(Schema::compile(&tree::value(own))?));
        }
        Ok(All::of(schemas))
    }
}

fn within(at: usize, fault: &Fault) -> Fault {
    Fault::new(fault.status, format!("tools[{at}].arguments: {}", fault.message))
}

/// Cannot happen while the core writes a schema's text as we do. A schema must not be passed over if it does.
fn lost(tool: &str) -> Fault {
    let message = format!("a schema of the policy for {tool:?} was lost: please report this policy");
    Fault::new(MICROLOOP_INVALID_SCHEMA, message)
}

/// A schema that was compiled.
#[derive(Debug)]
struct Schema {
    validator: Validator<Tree>,
    names: Names,
    shape: String,
}

impl Schema {
    fn compile(schema: &Value) -> Result<Self, Fault> {
        if !schema.is_object() && !schema.is_boolean() {
            let message = "a JSON Schema is an object, true or false: pass the schema itself, not its text";
            return Err(Fault::new(MICROLOOP_INVALID_SCHEMA, message));
        }
        let validator = jsonschema::options_for::<Tree>()
            .with_retriever(Nothing)
            .should_validate_formats(false)
            .with_pattern_options(PatternOptions::regex().size_limit(PATTERN_SIZE))
            .build(schema)
            .map_err(|error| explain::fault(&error))?;
        Ok(Self { validator, names: failure::names(schema), shape: shape::describe(schema) })
    }
}

impl ArgumentSchema for Schema {
    fn check(&self, arguments: &Json<'_>) -> Result<(), SchemaFailure> {
        if self.validator.is_valid(arguments) {
            return Ok(());
        }
        self.validator.validate(arguments).map_err(|error| {
            let path = failure::path(&error, &self.names);
            SchemaFailure {
                keyword: error.kind().keyword().into(),
                message: failure::sentence(error.kind(), &path),
                path,
            }
        })
    }

    fn shape(&self) -> &str {
        &self.shape
    }
}

/// Retrieves nothing.
struct Nothing;

impl Retrieve for Nothing {
    fn retrieve(&self, _: &Uri<String>) -> Result<Value, Box<dyn Error + Send + Sync>> {
        Err("nothing is fetched".into())
    }
}
