//! Walks over an outcome token by token and copies it with marks in place of what varies.

use alloc::vec::Vec;

use super::shape;

/// What the last word says of the value after it.
#[derive(Clone, Copy, PartialEq)]
enum Announced {
    Nothing,
    /// `pid 17`, `port: 5432`, `line 3`
    Number,
    /// `request_id: ab12`
    Value,
}

/// A mark stands where something was left out; no text has this byte in that place.
const MARK: u8 = 0x1a;
const ESCAPE: u8 = 0x1b;
/// How far back a host or a file name before a colon is looked for.
const LOOK_BACK: usize = 64;

/// The walk over one outcome.
pub(super) struct Scanner<'t> {
    text: &'t [u8],
    at: usize,
    announced: Announced,
}

impl<'t> Scanner<'t> {
    pub(super) fn new(text: &'t [u8]) -> Self {
        Self { text, at: 0, announced: Announced::Nothing }
    }

    /// Copies the next token; false at the end.
    pub(super) fn advance(&mut self, out: &mut Vec<u8>) -> bool {
        let rest = self.rest();
        let Some(&first) = rest.first() else { return false };
        if shape::is_word(first) {
            self.word(rest, out);
        } else if let Some(left_out) = self.between(first, rest, out) {
            self.at = self.at.saturating_add(left_out);
        } else {
            self.copy(1, out);
        }
        true
    }

    fn rest(&self) -> &'t [u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn copy(&mut self, len: usize, out: &mut Vec<u8>) {
        out.extend_from_slice(self.rest().get(..len).unwrap_or_default());
        self.at = self.at.saturating_add(len);
    }

    fn word(&mut self, rest: &'t [u8], out: &mut Vec<u8>) {
        let announced = core::mem::replace(&mut self.announced, Announced::Nothing);
        if let Some(len) = varying(announced, rest) {
            out.push(MARK);
            self.at = self.at.saturating_add(len);
            return;
        }
        let len = if rest.first().is_some_and(u8::is_ascii_digit) {
            shape::number(rest)
        } else {
            shape::word(rest)
        };
        self.announced = announces(rest.get(..len).unwrap_or_default());
        self.copy(len, out);
    }

    /// Handles a byte between words; how many bytes to leave out, or `None` to copy it.
    fn between(&mut self, first: u8, rest: &[u8], out: &mut Vec<u8>) -> Option<usize> {
        match first {
            ESCAPE => return Some(shape::colour(rest)),
            b'/' => return self.temp_path(rest, out),
            b':' if self.follows_place() => {
                let digits = shape::digits(rest.get(1..).unwrap_or_default());
                if digits > 0 {
                    out.extend_from_slice(&[b':', MARK]);
                    return Some(digits.saturating_add(1));
                }
            }
            b' ' | b':' | b'=' | b'"' | b'\'' | b'#' | b'>' => return None,
            _ => {}
        }
        self.announced = if first == b':' { self.announced } else { Announced::Nothing };
        None
    }

    /// `/tmp/x7f3/file`: the directory's own name varies, what is in it does not.
    fn temp_path(&mut self, rest: &[u8], out: &mut Vec<u8>) -> Option<usize> {
        self.announced = Announced::Nothing;
        let root = shape::temp_root(rest)?;
        out.extend_from_slice(rest.get(..root).unwrap_or_default());
        out.push(MARK);
        Some(root.saturating_add(shape::path_part(rest.get(root..).unwrap_or_default())))
    }

    /// Whether a file name, a host or another such number stands right before.
    fn follows_place(&self) -> bool {
        let before = self.text.get(self.at.saturating_sub(LOOK_BACK)..self.at).unwrap_or_default();
        let is_break = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'(' | b',' | b'[');
        let from = before.iter().rposition(is_break).map_or(0, |at| at.saturating_add(1));
        let place = before.get(from..).unwrap_or_default();
        place.ends_with(b"localhost") || place.iter().any(|byte| matches!(byte, b'.' | b'/'))
    }
}

/// The length of what varies at the beginning of `rest`, a word's beginning.
fn varying(announced: Announced, rest: &[u8]) -> Option<usize> {
    let first = *rest.first()?;
    let digits = first.is_ascii_digit();
    match announced {
        Announced::Value => return Some(shape::identifier(rest)),
        Announced::Number if digits => return Some(shape::digits(rest)),
        _ => {}
    }
    if digits {
        shape::uuid(rest)
            .or_else(|| shape::address(rest))
            .or_else(|| shape::date_time(rest))
            .or_else(|| shape::clock_time(rest))
            .or_else(|| shape::epoch_time(rest))
            .or_else(|| shape::duration(rest))
    } else {
        match first {
            b'a'..=b'f' | b'A'..=b'F' => shape::uuid(rest),
            b'r' => shape::request_id(rest),
            _ => None,
        }
    }
}

fn announces(word: &[u8]) -> Announced {
    if !(3..=14).contains(&word.len()) {
        return Announced::Nothing;
    }
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
