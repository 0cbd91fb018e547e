//! Leaves out of an outcome what varies without meaning.
//!
//! Colour, UUIDs, ISO and epoch times, clock times, durations, hex addresses, temp paths, process ids, ports, line numbers and request ids become
//! marks; everything else stays, digits too. One pass over the bytes, in fixed memory: the normalised text goes to the
//! hash in pieces and is never held whole.

use alloc::vec::Vec;

use crate::digest::Digest;

mod shape;
mod token;

/// How much normalised text is gathered before it is hashed.
const PIECE: usize = 16 * 1024;

/// The digest of the normalised text after `tag`.
pub(super) fn digest(tag: &[u8], text: &[u8], scratch: &mut Vec<u8>) -> Digest {
    scratch.clear();
    scratch.extend_from_slice(tag);
    let mut hasher = None;
    let mut scanner = token::Scanner::new(text.trim_ascii());
    while scanner.advance(scratch) {
        if scratch.len() >= PIECE {
            hasher.get_or_insert_with(blake3::Hasher::new).update(scratch);
            scratch.clear();
        }
    }
    match hasher {
        None => Digest::of(scratch),
        Some(mut hasher) => Digest::from_hash(&hasher.update(scratch).finalize()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(a: &str, b: &str) -> bool {
        let mut scratch = Vec::new();
        digest(b"", a.as_bytes(), &mut scratch) == digest(b"", b.as_bytes(), &mut scratch)
    }

    #[test]
    fn what_varies_without_meaning_is_left_out() {
        for (a, b) in [
            ("\u{1b}[31mred\u{1b}[0m", "red"),
            ("id 550e8400-e29b-41d4-a716-446655440000.", "id f47ac10b-58cc-4372-a567-0e02b2c3d479."),
            ("at 2024-01-02T03:04:05Z ok", "at 2025-11-12 13:14:15.123+01:00 ok"),
            ("{\"ts\": 1718000000, \"n\": 1}", "{\"ts\": 1719999999, \"n\": 1}"),
            ("{\"ts\": 1718000000.25}", "{\"ts\": 1718000001.75}"),
            ("ms 1718000000123", "ms 1718000999123"),
            ("12:00:01 done", "13:59:07.5 done"),
            ("took 0.12s", "took 13.4s"),
            ("took 12 ms", "took 7 ms"),
            ("in 1m30s", "in 2m05s"),
            ("<obj at 0x7f3a2c001d90>", "<obj at 0x55d0a1b2c3d4>"),
            ("wrote /tmp/tmpab12/x.txt", "wrote /tmp/tmpzz98/x.txt"),
            ("pid 123 exited", "pid 4567 exited"),
            ("pid=123", "pid=9"),
            ("listening on port 54321", "listening on port 50001"),
            ("http://localhost:54321/x", "http://localhost:49152/x"),
            ("File \"a.py\", line 12, in f", "File \"a.py\", line 31, in f"),
            ("src/a.rs:10:5: oops", "src/a.rs:12:9: oops"),
            ("{\"request_id\": \"abc123\", \"n\": 1}", "{\"request_id\": \"zzz999\", \"n\": 1}"),
            ("req_8f3kd92k failed", "req_11aabbcc failed"),
            ("  padded \n", "padded"),
        ] {
            assert!(same(a, b), "{a} / {b}");
        }
    }

    #[test]
    fn what_means_something_stays() {
        for (a, b) in [
            ("3 failed, 7 passed", "2 failed, 8 passed"),
            ("page 1", "page 2"),
            ("total: 5", "total: 6"),
            ("2024-01-01", "2024-01-02"),
            ("v1.2.3", "v1.2.4"),
            ("0x1f", "0x2f"),
            ("user 17", "user 18"),
            ("1234567", "1234568"),
            ("42 sheep", "43 sheep"),
            ("/home/a/x", "/home/b/x"),
            ("{\"count\":5}", "{\"count\":6}"),
            ("a", "b"),
            ("5 storeys", "6 storeys"),
        ] {
            assert!(!same(a, b), "{a} / {b}");
        }
    }

    #[test]
    fn whole_outcomes_count_and_not_a_prefix() {
        let long = |end: &str| alloc::format!("{}{end}", "the same text again ".repeat(10_000));
        assert!(same(&long("x"), &long("x")));
        assert!(!same(&long("x"), &long("y")));
    }

    #[test]
    fn any_bytes_are_taken() {
        let mut scratch = Vec::new();
        let cut = "naïve 10:00:0".as_bytes();
        for end in 0..=cut.len() {
            digest(b"", cut.get(..end).unwrap_or_default(), &mut scratch);
        }
        digest(b"", b"\x1b[\xff\xfe\x1b", &mut scratch);
    }
}
