//! What a handle is made of: 32 bits generation, 4 bits kind, 28 bits index.
//!
//! The generation tells a freed slot's old handles from its new one, the kind tells a policy from a session, and since
//! no kind is 0, neither is any handle.

use alloc::format;

use crate::status::{Fault, MICROLOOP_STALE_HANDLE};

const INDEX_BITS: u32 = 28;
const KIND_BITS: u32 = 4;

/// How many slots there can be.
pub(crate) const MAX_INDEX: u32 = (1 << INDEX_BITS) - 1;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Policy = 1,
    Session = 2,
}

impl Kind {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Policy => "policy",
            Self::Session => "session",
        }
    }
}

pub(crate) fn pack(kind: Kind, index: u32, generation: u32) -> u64 {
    (u64::from(generation) << (INDEX_BITS + KIND_BITS)) | ((kind as u64) << INDEX_BITS) | u64::from(index)
}

/// The index and generation of a handle, if it is of this kind at all.
#[expect(clippy::cast_possible_truncation, reason = "each part is masked or shifted to its width")]
pub(crate) fn unpack(kind: Kind, handle: u64) -> Result<(u32, u32), Fault> {
    let seen = (handle >> INDEX_BITS) & ((1 << KIND_BITS) - 1);
    if seen != kind as u64 {
        return Err(foreign(kind, handle, seen));
    }
    Ok((handle as u32 & MAX_INDEX, (handle >> (INDEX_BITS + KIND_BITS)) as u32))
}

#[cold]
fn foreign(kind: Kind, handle: u64, seen: u64) -> Fault {
    let wanted = kind.name();
    let what = if handle == 0 {
        format!("the {wanted} handle is 0, which none ever is: look at the status of the call that should have made it")
    } else if seen == Kind::Policy as u64 || seen == Kind::Session as u64 {
        let other = if kind == Kind::Policy { Kind::Session } else { Kind::Policy };
        format!("a {} handle was passed where a {wanted} handle is wanted", other.name())
    } else {
        format!("the {wanted} handle was never given out by this library")
    };
    Fault::new(MICROLOOP_STALE_HANDLE, what)
}

/// The fault of a handle whose slot holds something else by now, or nothing.
#[cold]
pub(crate) fn stale(kind: Kind, generation: u32, current: u32) -> Fault {
    let name = kind.name();
    let what = if generation < current {
        format!("the {name} was freed before: do not use its handle after microloop_{name}_free")
    } else {
        format!("the {name} handle was never given out by this library")
    };
    Fault::new(MICROLOOP_STALE_HANDLE, what)
}
