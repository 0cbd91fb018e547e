//! Calls that were just seen, byte for byte.
//!
//! An agent that is stuck sends the very same bytes. What follows from them alone (they parse, the rules let them pass, their identity) does
//! not change under one policy, so it need not be worked out again.

use alloc::{sync::Arc, vec::Vec};

use crate::{call::Identity, policy::Tool};

const SLOTS: usize = 16;
/// Longer arguments are not kept: the memory of a session is bounded.
const LONGEST: usize = 512;

#[derive(Debug)]
struct Seen {
    tool: Arc<Tool>,
    bytes: Vec<u8>,
    identity: Identity,
}

/// The latest calls, one a slot.
#[derive(Debug)]
pub(crate) struct Recall(Vec<Option<Seen>>);

impl Recall {
    pub(crate) fn new() -> Self {
        let mut slots = Vec::new();
        slots.resize_with(SLOTS, || None);
        Self(slots)
    }

    pub(crate) fn find(&self, tool: &Arc<Tool>, bytes: &[u8]) -> Option<Identity> {
        let seen = self.0.get(slot(bytes))?.as_ref()?;
        (Arc::ptr_eq(&seen.tool, tool) && seen.bytes == bytes).then_some(seen.identity)
    }

    pub(crate) fn remember(&mut self, tool: &Arc<Tool>, bytes: &[u8], identity: Identity) {
        if bytes.len() > LONGEST {
            return;
        }
        let Some(slot) = self.0.get_mut(slot(bytes)) else { return };
        let seen = slot.get_or_insert_with(|| Seen { tool: Arc::clone(tool), bytes: Vec::new(), identity });
        seen.tool.clone_from(tool);
        seen.identity = identity;
        seen.bytes.clear();
        seen.bytes.extend_from_slice(bytes);
    }
}

/// A quick mix of all bytes. Whoever forces two calls into one slot only makes both of them slower.
#[allow(clippy::cast_possible_truncation, reason = "on 32-bit targets: any bits of the mix will do")]
fn slot(bytes: &[u8]) -> usize {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let (words, rest) = bytes.as_chunks::<8>();
    let mix = |sum: u64, word: u64| (sum.rotate_left(5) ^ word).wrapping_mul(ODD);
    let sum = words.iter().fold(0, |sum, word| mix(sum, u64::from_le_bytes(*word)));
    let sum = rest.iter().fold(sum, |sum, byte| mix(sum, u64::from(*byte)));
    (sum >> 32) as usize % SLOTS
}
