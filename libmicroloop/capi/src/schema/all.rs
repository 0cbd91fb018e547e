//! Several schemas that must all hold.

use std::{boxed::Box, string::String, sync::Arc, vec::Vec};

use microloop_core::{
    json::Json,
    policy::{ArgumentSchema, SchemaFailure},
};

use super::Schema;

/// The policy's schemas for a tool, then the tool's own.
#[derive(Debug)]
pub(super) struct All {
    schemas: Vec<Arc<Schema>>,
    shape: String,
}

impl All {
    /// The shape that the model is shown is the last one's: what the tool says about itself is the most precise.
    pub(super) fn of(schemas: Vec<Arc<Schema>>) -> Option<Box<dyn ArgumentSchema>> {
        let shape = schemas.last()?.shape.clone();
        Some(Box::new(Self { schemas, shape }))
    }
}

impl ArgumentSchema for All {
    fn check(&self, arguments: &Json<'_>) -> Result<(), SchemaFailure> {
        self.schemas.iter().try_for_each(|schema| schema.check(arguments))
    }

    fn shape(&self) -> &str {
        &self.shape
    }
}
