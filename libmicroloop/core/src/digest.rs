//! Digests: BLAKE3, cut to 128 bits.
//!
//! 128 bits leave no accidental collision in any run. Whoever forces one on purpose only makes two of its own calls look
//! alike, and is stopped sooner.

use core::fmt;

use serde::{Deserialize, Serialize};

/// The digest of a call or an outcome.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub struct Digest(u128);

impl Digest {
    /// The digest of some bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self::from_hash(&blake3::hash(bytes))
    }

    /// The digest of several byte strings, which are kept apart by their lengths.
    pub(crate) fn of_parts(parts: &[&[u8]]) -> Self {
        let mut hasher = blake3::Hasher::new();
        for part in parts {
            hasher.update(&part.len().to_le_bytes()).update(part);
        }
        Self::from_hash(&hasher.finalize())
    }

    pub(crate) fn from_hash(hash: &blake3::Hash) -> Self {
        let mut head = [0; 16];
        head.iter_mut().zip(hash.as_bytes()).for_each(|(to, from)| *to = *from);
        Self(u128::from_le_bytes(head))
    }

    /// The digest of two things together.
    pub(crate) fn with(self, other: Self) -> Self {
        Self::of_parts(&[&self.0.to_le_bytes(), &other.0.to_le_bytes()])
    }

    /// One of a few digests that belong to this one.
    pub(crate) fn marked(self, mark: u8) -> Self {
        Self(self.0 ^ u128::from(mark))
    }

    /// A small number that is spread evenly, to choose a slot by.
    #[allow(clippy::cast_possible_truncation, reason = "on 32-bit targets: any bits of the digest will do")]
    pub(crate) fn slot(self, slots: usize) -> usize {
        (self.0 as usize).checked_rem(slots).unwrap_or(0)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}
