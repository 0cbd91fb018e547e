//! What a policy says about names that nobody declared, compiled once for all of its sessions.

use alloc::{collections::BTreeMap, string::String, sync::Arc};

use microloop_core::policy::Tool;

use crate::{lock::Lock, status::Fault};

/// A model can make up names without end: of no more than so many is it kept what the policy says.
const KEPT: usize = 1024;
const LONGEST_KEPT: usize = 256;

#[derive(Debug, Default)]
pub(crate) struct NamedTools(Lock<BTreeMap<String, Arc<Tool>>>);

impl NamedTools {
    /// The tool of a name, compiled now if it was not before.
    pub(crate) fn get(&self, name: &str, compile: impl FnOnce() -> Result<Tool, Fault>) -> Result<Arc<Tool>, Fault> {
        if let Some(tool) = self.0.lock().get(name) {
            return Ok(Arc::clone(tool));
        }
        let tool = Arc::new(compile()?);
        let mut kept = self.0.lock();
        if kept.len() < KEPT && name.len() <= LONGEST_KEPT {
            kept.insert(name.into(), Arc::clone(&tool));
        }
        Ok(tool)
    }
}
