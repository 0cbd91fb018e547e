//! The order of object members.

use core::cmp::Ordering;

/// The first byte, in UTF-8, of a character from U+E000 on.
const ASTRAL: u8 = 0xee;

/// The order of RFC 8785, 3.2.3: by UTF-16 code units. It differs from the order of the bytes only between characters from
/// U+E000 on, whose UTF-8 begins with 0xEE or more.
#[inline]
pub(super) fn by_utf16(a: &str, b: &str) -> Ordering {
    match (a.as_bytes().first(), b.as_bytes().first()) {
        // Most keys of a call differ in their first letter.
        (Some(x), Some(y)) if x != y && x.min(y) < &ASTRAL => x.cmp(y),
        _ => by_first_difference(a, b),
    }
}

fn by_first_difference(a: &str, b: &str) -> Ordering {
    match a.bytes().zip(b.bytes()).find(|(x, y)| x != y) {
        None => a.len().cmp(&b.len()),
        Some((x, y)) if x.min(y) < ASTRAL => x.cmp(&y),
        Some(_) => a.encode_utf16().cmp(b.encode_utf16()),
    }
}
