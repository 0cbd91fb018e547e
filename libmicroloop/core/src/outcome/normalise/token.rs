//! Copies an outcome with marks in place of what varies.
//!
//! Whatever varies has a digit in it, is an escape sequence, or stands in a temp directory; so the text is copied in long pieces up to the next
//! digit, `ESC` or slash, and only there is looked closer.

use alloc::vec::Vec;

use super::shape;

/// A mark stands where something was left out; no text has this byte in that place.
const MARK: u8 = 0x1a;
const ESCAPE: u8 = 0x1b;
/// How far back is looked for what stands before a number.
const LOOK_BACK: usize = 64;

/// The walk over one outcome.
pub(super) struct Scanner<'t> {
    text: &'t [u8],
    at: usize,
}

impl<'t> Scanner<'t> {
    pub(super) fn new(text: &'t [u8]) -> Self {
        Self { text, at: 0 }
    }

    /// Copies up to and including the next place that may vary; false at the end.
    pub(super) fn advance(&mut self, out: &mut Vec<u8>) -> bool {
        let rest = self.rest();
        let Some(plain) = next_suspect(rest) else {
            out.extend_from_slice(rest);
            return false;
        };
        let (before, suspect) = rest.split_at(plain);
        let lead = trailing_word(before);
        self.copy(plain.saturating_sub(lead), out);
        match suspect.first() {
            Some(&ESCAPE) => {
                self.copy(lead, out);
                self.skip(shape::colour(suspect));
            }
            Some(b'/') => {
                self.copy(lead, out);
                self.temp_path(suspect, out);
            }
            _ => self.word(out),
        }
        true
    }

    fn rest(&self) -> &'t [u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn before(&self) -> &'t [u8] {
        self.text.get(self.at.saturating_sub(LOOK_BACK)..self.at).unwrap_or_default()
    }

    fn skip(&mut self, len: usize) {
        self.at = self.at.saturating_add(len);
    }

    fn copy(&mut self, len: usize, out: &mut Vec<u8>) {
        out.extend_from_slice(self.rest().get(..len).unwrap_or_default());
        self.skip(len);
    }

    /// A word with a digit in it.
    fn word(&mut self, out: &mut Vec<u8>) {
        let rest = self.rest();
        if let Some(len) = varying(self.before(), rest) {
            out.push(MARK);
            self.skip(len);
        } else {
            self.copy(shape::number(rest), out);
        }
    }

    /// `/tmp/x7f3/file`: the directory's own name varies, what is in it does not.
    fn temp_path(&mut self, rest: &[u8], out: &mut Vec<u8>) {
        let Some(root) = shape::temp_root(rest) else { return self.copy(1, out) };
        self.copy(root, out);
        out.push(MARK);
        self.skip(shape::path_part(self.rest()));
    }
}

/// The first digit, slash (which comes right before the digits) or `ESC`.
fn next_suspect(text: &[u8]) -> Option<usize> {
    let is_suspect = |byte: &u8| matches!(byte, b'/'..=b'9' | &ESCAPE);
    let (blocks, _) = text.as_chunks::<16>();
    // Without a branch in the block, the compiler compares sixteen bytes at once.
    let calm = blocks.iter().take_while(|block| !block.iter().fold(false, |any, byte| any | is_suspect(byte))).count();
    let from = calm.saturating_mul(16);
    text.get(from..)?.iter().position(is_suspect).map(|at| from.saturating_add(at))
}

/// How many bytes at the end are the beginning of a word that goes on.
fn trailing_word(text: &[u8]) -> usize {
    text.iter().rev().take(LOOK_BACK).take_while(|byte| shape::is_word(**byte)).count()
}

/// The length of what varies at the beginning of `rest`, where a word begins that has a digit in it.
fn varying(before: &[u8], rest: &[u8]) -> Option<usize> {
    match announced(before) {
        Announced::Value => return Some(shape::identifier(rest)),
        Announced::Number => return Some(shape::digits(rest)).filter(|len| *len > 0),
        Announced::Nothing => {}
    }
    match rest.first()? {
        b'0'..=b'9' => shape::uuid(rest)
            .or_else(|| shape::address(rest))
            .or_else(|| shape::date_time(rest))
            .or_else(|| shape::clock_time(rest))
            .or_else(|| shape::epoch_time(rest))
            .or_else(|| shape::duration(rest)),
        b'a'..=b'f' | b'A'..=b'F' => shape::uuid(rest),
        b'r' => shape::request_id(rest),
        _ => None,
    }
}

/// What is said right before of the word to come.
enum Announced {
    Nothing,
    /// `pid 17`, `port: 5432`, `line 3`, `a.py:12`, `localhost:8080`
    Number,
    /// `request_id: ab12`
    Value,
}

fn announced(before: &[u8]) -> Announced {
    if before.last() == Some(&b':') && is_place(before) {
        return Announced::Number;
    }
    let is_gap = |byte: &u8| matches!(byte, b' ' | b':' | b'=' | b'"' | b'\'' | b'#' | b'>');
    let gap = before.iter().rev().take_while(|byte| is_gap(byte)).count();
    let (before, _) = before.split_at(before.len().saturating_sub(gap));
    let word = before.get(before.len().saturating_sub(trailing_word(before))..).unwrap_or_default();
    if gap == 0 || !(3..=14).contains(&word.len()) {
        return Announced::Nothing;
    }
    announces(word)
}

fn announces(word: &[u8]) -> Announced {
    let is_any = |names: &[&str]| names.iter().any(|name| word.eq_ignore_ascii_case(name.as_bytes()));
    match word.first().map(u8::to_ascii_lowercase) {
        Some(b'p') if is_any(&["pid", "ppid", "port"]) => Announced::Number,
        Some(b'l') if is_any(&["line"]) => Announced::Number,
        Some(b'r') if is_any(&["request_id", "requestid"]) => Announced::Value,
        Some(b't') if is_any(&["trace_id", "traceid"]) => Announced::Value,
        Some(b'c') if is_any(&["correlation_id", "correlationid"]) => Announced::Value,
        _ => Announced::Nothing,
    }
}

/// Whether a file name, a host or another number after one stands before the colon.
fn is_place(before: &[u8]) -> bool {
    let is_break = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'(' | b',' | b'[');
    let from = before.iter().rposition(is_break).map_or(0, |at| at.saturating_add(1));
    let place = before.get(from..).unwrap_or_default();
    place.ends_with(b"localhost:") || place.iter().any(|byte| matches!(byte, b'.' | b'/'))
}
