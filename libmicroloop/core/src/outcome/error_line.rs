//! The identity of an error: its class and the line that says what went wrong, not the banner around it.

use alloc::vec::Vec;

use super::normalise;
use crate::digest::Digest;

/// Error texts are read this far; what matters stands near the beginning or, in a traceback, at the end.
const READ: usize = 16 * 1024;

const TELLING: &[&str] = &[
    "error",
    "exception",
    "failed",
    "failure",
    "not found",
    "denied",
    "invalid",
    "cannot",
    "can't",
    "unable",
    "no such",
    "refused",
    "timed out",
    "timeout",
    "unexpected",
    "missing",
    "undefined",
    "unknown",
    "forbidden",
    "unauthorized",
];

const BANNERS: &[&str] = &[
    "traceback (most recent call last)",
    "non-zero exit status",
    "exit code",
    "exited with",
    "error executing tool",
    "command failed",
    "during handling of the above exception",
];

/// The digest of an error's class and informative line, without quoted text and digits.
pub(super) fn identity(bytes: &[u8], scratch: &mut Vec<u8>) -> Digest {
    let text = bytes.trim_ascii();
    let head = text.get(..READ).unwrap_or(text);
    let tail = text.get(text.len().saturating_sub(READ)..).unwrap_or(text);
    let line = informative_line(head, tail);
    let mut masked = Vec::with_capacity(line.len().saturating_add(16));
    mask(class(head), &mut masked);
    masked.push(0);
    mask(line, &mut masked);
    normalise::digest(b"why\0", &masked, scratch)
}

/// What stands before the first colon, if it is one word: `ValueError`, `sqlite3.OperationalError`.
fn class(text: &[u8]) -> &[u8] {
    let end = text.iter().position(|byte| *byte == b':').unwrap_or(0);
    let word = text.get(..end).unwrap_or_default();
    let is_word = word.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_'));
    if is_word { word } else { &[] }
}

fn informative_line<'t>(head: &'t [u8], tail: &'t [u8]) -> &'t [u8] {
    let is_traceback = contains(first_line(head), BANNERS.get(..1).unwrap_or_default());
    let mut telling = lines(if is_traceback { tail } else { head }).filter(|line| is_telling(line));
    let line = if is_traceback { telling.next_back() } else { telling.next() };
    line.or_else(|| lines(head).find(|line| !is_banner(line))).unwrap_or_else(|| first_line(head))
}

fn lines(text: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii)
}

fn first_line(text: &[u8]) -> &[u8] {
    lines(text).next().unwrap_or_default()
}

fn is_telling(line: &[u8]) -> bool {
    !is_banner(line) && contains(line, TELLING)
}

fn is_banner(line: &[u8]) -> bool {
    let says_nothing = !line.iter().any(u8::is_ascii_alphanumeric);
    says_nothing || line.starts_with(b"File \"") || contains(line, BANNERS)
}

fn contains(line: &[u8], phrases: &[&str]) -> bool {
    phrases.iter().any(|phrase| line.windows(phrase.len()).any(|part| part.eq_ignore_ascii_case(phrase.as_bytes())))
}

/// Copies `line` without what an error echoes of the arguments: quoted text, and numbers.
fn mask(line: &[u8], out: &mut Vec<u8>) {
    let mut quote = None;
    let mut before = b' ';
    for &byte in line {
        match quote {
            Some(open) if byte == open => quote = None,
            Some(_) => {}
            None if opens_quote(byte, before) => quote = Some(byte),
            None if byte.is_ascii_digit() => {
                if out.last() != Some(&b'#') {
                    out.push(b'#');
                }
            }
            None => out.push(byte),
        }
        before = byte;
    }
}

/// An apostrophe within a word (`can't`) opens nothing.
fn opens_quote(byte: u8, before: u8) -> bool {
    matches!(byte, b'"' | b'`') || (byte == b'\'' && !before.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(a: &str, b: &str) -> bool {
        let mut scratch = Vec::new();
        identity(a.as_bytes(), &mut scratch) == identity(b.as_bytes(), &mut scratch)
    }

    #[test]
    fn the_same_error_about_other_things_is_the_same_error() {
        assert!(same("HTTPError: 404 Not Found for id 17", "HTTPError: 404 Not Found for id 2230"));
        assert!(same("KeyError: 'alice'", "KeyError: 'bob'"));
        assert!(same("can't open \"a b.txt\"", "can't open \"c\""));
    }

    #[test]
    fn another_class_or_another_line_is_another_error() {
        assert!(!same("ValueError: bad date", "TypeError: bad date"));
        assert!(!same("ValueError: bad date", "ValueError: bad month"));
    }

    #[test]
    fn the_informative_line_counts_and_not_the_banner() {
        let run = |why: &str| alloc::format!("=====\nCommand 'make' returned non-zero exit status 2.\n{why}\n=====");
        assert!(!same(&run("error: undefined symbol foo"), &run("error: cannot open file")));
        assert!(same(&run("error: undefined symbol foo"), &run("error: undefined symbol foo\nnote: seen 3 times")));
    }

    #[test]
    fn a_traceback_is_told_by_its_last_line() {
        let traceback = |frames: &str, why: &str| alloc::format!("Traceback (most recent call last):\n{frames}\n{why}");
        let deep = traceback("  File \"a.py\", line 3\n    raise missing", "ValueError: no such column");
        let flat = traceback("  File \"b.py\", line 99", "ValueError: no such column");
        assert!(same(&deep, &flat));
        assert!(!same(&deep, &traceback("  File \"b.py\", line 99", "ValueError: no such table")));
    }
}
