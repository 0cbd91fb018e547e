//! What the session remembers of each call.
//!
//! A set-associative table: a look-up reads at most `WAYS` entries however long the run is, and the table never
//! grows beyond `SETS * WAYS`.

use alloc::vec::Vec;

use serde::{Deserialize, Deserializer, Serialize, de::Error};

use crate::{digest::Digest, verdict::Evidence};

const SETS: usize = 64;
const WAYS: usize = 4;

/// One remembered call. The loop contract (`docs/explanation/loop-contract.md`) says what each field means.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own in the contract")]
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Memory {
    pub(crate) call: Digest,
    pub(crate) outcome: Digest,
    pub(crate) completed: bool,
    pub(crate) failed: bool,
    pub(crate) succeeded: bool,
    pub(crate) flagged: bool,
    pub(crate) returned: bool,
    pub(crate) streak: u32,
    pub(crate) total: u32,
    pub(crate) fails: u32,
    pub(crate) refusals: u32,
    pub(crate) pending: u32,
    pub(crate) epoch: u32,
    pub(crate) shift: u32,
    pub(crate) evidence: Evidence,
    pub(crate) since_ms: u64,
    pub(crate) let_through_ms: Option<u64>,
    pub(crate) failed_ms: u64,
    pub(crate) batch: Option<(Digest, u64)>,
    used: u64,
}

/// The remembered calls, found by their digest.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Memories {
    #[serde(deserialize_with = "sets")]
    sets: Vec<Vec<Memory>>,
    clock: u64,
}

impl Memories {
    pub(crate) fn new() -> Self {
        Self { sets: alloc::vec![Vec::new(); SETS], clock: 0 }
    }

    pub(crate) fn clear(&mut self) {
        self.sets.iter_mut().for_each(Vec::clear);
    }

    pub(crate) fn get(&self, call: Digest) -> Option<&Memory> {
        self.sets.get(call.slot(SETS))?.iter().find(|memory| memory.call == call)
    }

    pub(crate) fn get_mut(&mut self, call: Digest) -> Option<&mut Memory> {
        self.sets.get_mut(call.slot(SETS))?.iter_mut().find(|memory| memory.call == call)
    }

    /// The memory of `call`, made now if there is none.
    pub(crate) fn touch(&mut self, call: Digest) -> Option<&mut Memory> {
        self.clock = self.clock.saturating_add(1);
        let clock = self.clock;
        let set = self.sets.get_mut(call.slot(SETS))?;
        let known = set.iter().position(|memory| memory.call == call);
        let at = known.or_else(|| make_room(set, call))?;
        let memory = set.get_mut(at)?;
        memory.used = clock;
        Some(memory)
    }
}

/// Adds an entry for `call`, in place of the one that matters least where the set is full.
fn make_room(set: &mut Vec<Memory>, call: Digest) -> Option<usize> {
    let fresh = Memory { call, ..Memory::default() };
    if set.len() < WAYS {
        set.reserve_exact(WAYS.saturating_sub(set.len()));
        set.push(fresh);
        return set.len().checked_sub(1);
    }
    let (at, least) =
        set.iter_mut().enumerate().min_by_key(|(_, memory)| (memory.pending > 0, memory.flagged, memory.used))?;
    *least = fresh;
    Some(at)
}

/// Reads the sets of a saved session: as many as there always are, none of them overfull.
fn sets<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Vec<Memory>>, D::Error> {
    let sets = Vec::<Vec<Memory>>::deserialize(deserializer)?;
    if sets.len() != SETS || sets.iter().any(|set| set.len() > WAYS) {
        return Err(D::Error::custom("the table of calls has another shape"));
    }
    Ok(sets)
}
