//! The rings of a saved session: none may come back longer than it could have become.

use alloc::{collections::VecDeque, format};

use serde::{Deserialize, Deserializer, de::Error};

/// Reads a ring of at most `MOST` elements.
pub(crate) fn ring<'de, D, T, const MOST: usize>(deserializer: D) -> Result<VecDeque<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    let ring = VecDeque::deserialize(deserializer)?;
    if ring.len() > MOST {
        return Err(D::Error::custom(format!("{} elements where {MOST} are kept", ring.len())));
    }
    Ok(ring)
}
