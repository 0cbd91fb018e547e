//! What a host must be able to do with a JSON Schema. The core has no validator of its own: it needs more than `alloc`.

use alloc::string::String;
use core::fmt::Debug;

use crate::json::Json;

/// A compiled JSON Schema for the arguments of a tool.
pub trait ArgumentSchema: Send + Sync + Debug {
    /// Checks the arguments of a call.
    ///
    /// # Errors
    /// The first thing that is wrong with them.
    fn check(&self, arguments: &Json<'_>) -> Result<(), SchemaFailure>;

    /// The expected shape, short enough to show to the model.
    fn shape(&self) -> &str;
}

/// What is wrong with the arguments of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaFailure {
    /// Where in the arguments, as a JSON pointer
    pub path: String,
    /// The keyword of the schema that does not hold, as in `required`
    pub keyword: String,
    /// For the model
    pub message: String,
}
