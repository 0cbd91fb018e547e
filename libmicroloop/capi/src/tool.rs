//! The tools that are declared with a policy: a list that only grows, so that an index is good for ever.

use alloc::{collections::BTreeMap, format, sync::Arc, vec::Vec};

use microloop_core::{canonical, json::Json, policy::Tool};

use crate::{
    boundary::{Out, bytes, guarded},
    document::{self, wrong},
    lock::Lock,
    policy::{self, PolicyEntry},
    status::{Fault, MICROLOOP_LIMIT, MICROLOOP_OK},
};

/// How many tools one policy takes. A host that declares a new one for each call is told so.
const MOST: usize = 4096;

const WHAT: &str = "the tool declaration";

/// The tools of one policy.
#[derive(Debug, Default)]
pub(crate) struct Tools(Lock<List>);

#[derive(Debug, Default)]
struct List {
    tools: Vec<Arc<Tool>>,
    /// By canonical text, so that one declaration has one index however it is spelled.
    declared: BTreeMap<Vec<u8>, u32>,
}

impl Tools {
    /// Adds the tools that `known` lacks, in order.
    pub(crate) fn copy_to(&self, known: &mut Vec<Arc<Tool>>) {
        let list = self.0.lock();
        known.extend(list.tools.iter().skip(known.len()).cloned());
    }

    /// The declarations behind the indices that are wanted.
    pub(crate) fn declarations(&self, wanted: impl Fn(u32) -> bool) -> BTreeMap<u32, Vec<u8>> {
        let list = self.0.lock();
        let found = list.declared.iter().filter(|(_, index)| wanted(**index));
        found.map(|(text, index)| (*index, text.clone())).collect()
    }

    fn find(&self, declaration: &[u8]) -> Option<u32> {
        self.0.lock().declared.get(declaration).copied()
    }

    /// Adds a tool, unless another thread was quicker with the same declaration.
    fn add(&self, declaration: Vec<u8>, tool: Tool) -> Result<u32, Fault> {
        let mut list = self.0.lock();
        if let Some(index) = list.declared.get(&declaration) {
            return Ok(*index);
        }
        let index = list.tools.len();
        let (true, Ok(number)) = (index < MOST, u32::try_from(index)) else {
            let message = format!(
                "this policy has {MOST} tools, the most it takes: declare each tool once and keep its index, \
                 and check what nobody declared with microloop_check_named"
            );
            return Err(Fault::new(MICROLOOP_LIMIT, message));
        };
        list.tools.push(Arc::new(tool));
        list.declared.insert(declaration, number);
        Ok(number)
    }
}

/// Declares a tool with a policy; `*tool` is the index to check its calls with.
///
/// `declaration` is a JSON object: `name`, and optionally `schema`, the JSON Schema of its arguments, which every call must
/// satisfy besides what the policy itself asks for. The same declaration gives the same index; another schema for the
/// same name is another tool. At most 4096 tools. Sessions that are running already may use the index at once.
///
/// # Safety
/// `declaration` must be valid for reads of `len` bytes and `tool` for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn microloop_policy_tool(policy: u64, declaration: *const u8, len: usize, tool: *mut u32) -> i32 {
    guarded(|| {
        // SAFETY: the caller promises that `tool` takes a write.
        let out = unsafe { Out::new("the place for the tool's index", tool) }?;
        // SAFETY: the caller promises that `declaration` has `len` bytes.
        let declaration = unsafe { bytes(WHAT, declaration, len) }?;
        let policy = policy::entry(policy)?;
        out.set(declare(&policy, declaration)?);
        Ok(MICROLOOP_OK)
    })
}

/// The index of a tool, declared now if it was not before.
pub(crate) fn declare(policy: &PolicyEntry, declaration: &[u8]) -> Result<u32, Fault> {
    let declaration = document::read(WHAT, declaration, &["name", "schema"])?;
    let name = document::text(WHAT, &declaration, "name")?
        .ok_or_else(|| wrong("the tool declaration has no name: pass {\"name\": \"…\"}"))?;
    if name.is_empty() {
        return Err(wrong("the tool's name is empty: pass the name that the model calls it by"));
    }
    let mut text = Vec::new();
    canonical::write(&declaration, &mut text);
    if let Some(index) = policy.tools().find(&text) {
        return Ok(index);
    }
    let own = declaration.get("schema").filter(|schema| !matches!(schema, Json::Null));
    let tool = policy.compile(name, own)?;
    policy.tools().add(text, tool)
}
