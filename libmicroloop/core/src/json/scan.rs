//! Finds the end of plain text in a JSON string, eight bytes at a time.

const ONES: u64 = 0x0101_0101_0101_0101;
const QUOTE: u64 = 0x22;
const BACKSLASH: u64 = 0x5c;
const HIGH: u64 = 0x8080_8080_8080_8080;

/// How many bytes come before the first quote, backslash or control character.
pub(crate) fn plain(bytes: &[u8]) -> usize {
    let (words, rest) = bytes.as_chunks::<8>();
    for (at, word) in words.iter().enumerate() {
        let marks = special(u64::from_le_bytes(*word));
        if marks != 0 {
            return at.saturating_mul(8).saturating_add(marks.trailing_zeros() as usize / 8);
        }
    }
    let tail = rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1f)).unwrap_or(rest.len());
    words.len().saturating_mul(8).saturating_add(tail)
}

/// A high bit in each byte that is a quote, a backslash or below 0x20; above the first such byte there may be false ones.
fn special(word: u64) -> u64 {
    let zero = |word: u64| word.wrapping_sub(ONES) & !word & HIGH;
    let quote = zero(word ^ (ONES * QUOTE));
    let backslash = zero(word ^ (ONES * BACKSLASH));
    let control = word.wrapping_sub(ONES * 0x20) & !word & HIGH;
    quote | backslash | control
}
