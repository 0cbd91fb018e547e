//! The order of object members.

use core::cmp::Ordering;

/// The order of RFC 8785, 3.2.3: by UTF-16 code units. It differs from the order of the bytes only between characters from
/// U+E000 on, whose UTF-8 begins with 0xEE or more.
pub(super) fn by_utf16(a: &str, b: &str) -> Ordering {
    match a.bytes().zip(b.bytes()).find(|(x, y)| x != y) {
        None => a.len().cmp(&b.len()),
        Some((x, y)) if x < 0xee || y < 0xee => x.cmp(&y),
        Some(_) => a.encode_utf16().cmp(b.encode_utf16()),
    }
}
