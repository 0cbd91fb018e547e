//! Policies: read once, then shared by their sessions.

use alloc::{sync::Arc, vec::Vec};

use microloop_core::{
    canonical,
    digest::Digest,
    json::Json,
    policy::{Policy, PolicyError, PolicyErrorKind, Tool},
};

use crate::{
    boundary::{Out, bytes, guarded},
    handle::Kind,
    named_tools::NamedTools,
    registry::Registry,
    schema::Schemas,
    status::{
        Fault, MICROLOOP_INVALID_POLICY, MICROLOOP_NO_SCHEMA_SUPPORT, MICROLOOP_NOT_JSON, MICROLOOP_NOT_UTF8,
        MICROLOOP_OK, MICROLOOP_UNSUPPORTED_REGEX,
    },
    tool::Tools,
};

/// Sessions keep their policy alive after its handle was freed.
static POLICIES: Registry<Arc<PolicyEntry>> = Registry::new(Kind::Policy);

/// A policy and what belongs to it.
#[derive(Debug)]
pub(crate) struct PolicyEntry {
    rules: Arc<Policy>,
    fingerprint: Digest,
    schemas: Schemas,
    tools: Tools,
    named: NamedTools,
}

impl PolicyEntry {
    fn read(json: &[u8]) -> Result<Self, Fault> {
        let rules = Policy::from_json(json).map_err(fault)?;
        let schemas = Schemas::of_policy(json)?;
        Ok(Self {
            rules: Arc::new(rules),
            fingerprint: fingerprint(json),
            schemas,
            tools: Tools::default(),
            named: NamedTools::default(),
        })
    }

    pub(crate) fn rules(&self) -> &Arc<Policy> {
        &self.rules
    }

    /// What tells this policy from every other.
    pub(crate) fn fingerprint(&self) -> Digest {
        self.fingerprint
    }

    pub(crate) fn tools(&self) -> &Tools {
        &self.tools
    }

    /// The tool of a name that nobody declared. It takes none of the places of those that were.
    pub(crate) fn named(&self, name: &str) -> Result<Arc<Tool>, Fault> {
        self.named.get(name, || self.compile(name, None))
    }

    /// All that the policy says about a tool, with its schemas and the tool's own.
    pub(crate) fn compile(&self, name: &str, schema: Option<&Json<'_>>) -> Result<Tool, Fault> {
        let tool = self.rules.tool(name).map_err(fault)?;
        let schema = self.schemas.of_tool(&tool, schema)?;
        Ok(tool.with_schema(schema))
    }
}

/// Of the canonical text, so that it does not matter how the document is spelled. One that has none stands for itself.
fn fingerprint(json: &[u8]) -> Digest {
    let Ok(document) = Json::parse(json) else { return Digest::of(json) };
    let mut text = Vec::new();
    canonical::write(&document, &mut text);
    Digest::of(&text)
}

/// The policy of a handle.
pub(crate) fn entry(policy: u64) -> Result<Arc<PolicyEntry>, Fault> {
    POLICIES.with(policy, |policy| Arc::clone(policy))
}

pub(crate) fn fault(error: PolicyError) -> Fault {
    let status = match error.kind {
        PolicyErrorKind::NotUtf8 => MICROLOOP_NOT_UTF8,
        PolicyErrorKind::NotJson => MICROLOOP_NOT_JSON,
        PolicyErrorKind::Invalid => MICROLOOP_INVALID_POLICY,
        PolicyErrorKind::UnsupportedRegex => MICROLOOP_UNSUPPORTED_REGEX,
        PolicyErrorKind::NoSchemaSupport => MICROLOOP_NO_SCHEMA_SUPPORT,
    };
    Fault::new(status, error.message)
}

/// Reads a policy from its JSON document; `*policy` is its handle, or 0 on failure.
///
/// The policy is yours; end it with `microloop_policy_free`. It may be used from any thread.
///
/// # Safety
/// `json` must be valid for reads of `len` bytes and `policy` for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn microloop_policy_new(json: *const u8, len: usize, policy: *mut u64) -> i32 {
    guarded(|| {
        // SAFETY: the caller promises that `policy` takes a write.
        let out = unsafe { Out::new("the place for the policy", policy) }?;
        // SAFETY: the caller promises that `json` has `len` bytes.
        let json = unsafe { bytes("the policy document", json, len) }?;
        out.set(POLICIES.insert(Arc::new(PolicyEntry::read(json)?))?);
        Ok(MICROLOOP_OK)
    })
}

/// Frees a policy. Its handle is stale from here on; sessions that were made with it live on.
#[unsafe(no_mangle)]
pub extern "C" fn microloop_policy_free(policy: u64) -> i32 {
    guarded(|| POLICIES.remove(policy).map(|_| MICROLOOP_OK))
}
