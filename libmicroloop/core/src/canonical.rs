//! Canonical JSON, RFC 8785.
//!
//! One deviation, on the safe side: integers between 2^53 and 2^64 keep all their digits, where the RFC rounds them to
//! doubles. Two ids that differ in the last digit are two calls.

use alloc::{borrow::Cow, vec::Vec};

use crate::json::{Json, Number, plain};

const HEX: &[u8; 16] = b"0123456789abcdef";

/// Appends the canonical text of `value`.
///
/// # Examples
/// ```
/// use microloop_core::{canonical, json::Json};
/// let mut text = Vec::new();
/// canonical::write(&Json::parse(br#"{"b": 1.0, "a": "\u00e9"}"#)?, &mut text);
/// assert_eq!(text, r#"{"a":"é","b":1}"#.as_bytes());
/// # Ok::<(), microloop_core::json::JsonError>(())
/// ```
pub fn write(value: &Json<'_>, out: &mut Vec<u8>) {
    match value {
        Json::Null => out.extend_from_slice(b"null"),
        Json::Bool(true) => out.extend_from_slice(b"true"),
        Json::Bool(false) => out.extend_from_slice(b"false"),
        Json::Number(number) => write_number(*number, out),
        Json::Text(text) => write_text(text, out),
        Json::Array(items) => write_array(items, out),
        Json::Object(members) => write_members(members.iter().map(|(key, value)| (key, value)), out),
    }
}

/// Appends an object with just these members, which must come in canonical order.
pub(crate) fn write_members<'j>(members: impl Iterator<Item = (&'j Cow<'j, str>, &'j Json<'j>)>, out: &mut Vec<u8>) {
    out.push(b'{');
    for (index, (key, value)) in members.enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write_text(key, out);
        out.push(b':');
        write(value, out);
    }
    out.push(b'}');
}

fn write_array(items: &[Json<'_>], out: &mut Vec<u8>) {
    out.push(b'[');
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write(item, out);
    }
    out.push(b']');
}

fn write_number(number: Number, out: &mut Vec<u8>) {
    match number {
        Number::Unsigned(n) => out.extend_from_slice(itoa::Buffer::new().format(n).as_bytes()),
        Number::Signed(n) => out.extend_from_slice(itoa::Buffer::new().format(n).as_bytes()),
        Number::Float(x) => out.extend_from_slice(ryu_js::Buffer::new().format(x).as_bytes()),
    }
}

#[expect(clippy::ptr_arg, reason = "whether it is borrowed matters")]
fn write_text(text: &Cow<'_, str>, out: &mut Vec<u8>) {
    out.push(b'"');
    match text {
        // Borrowed from JSON without escapes, so none are needed.
        Cow::Borrowed(plain) => out.extend_from_slice(plain.as_bytes()),
        Cow::Owned(text) => write_escaped(text, out),
    }
    out.push(b'"');
}

fn write_escaped(text: &str, out: &mut Vec<u8>) {
    let mut rest = text.as_bytes();
    loop {
        let (unescaped, tail) = rest.split_at(plain(rest));
        out.extend_from_slice(unescaped);
        let Some((escaped, tail)) = tail.split_first() else { break };
        write_escape(*escaped, out);
        rest = tail;
    }
}

fn write_escape(byte: u8, out: &mut Vec<u8>) {
    match byte {
        b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
        0x08 => out.extend_from_slice(b"\\b"),
        0x09 => out.extend_from_slice(b"\\t"),
        0x0a => out.extend_from_slice(b"\\n"),
        0x0c => out.extend_from_slice(b"\\f"),
        0x0d => out.extend_from_slice(b"\\r"),
        _ => {
            let digit = |nibble: u8| HEX.get(usize::from(nibble)).copied().unwrap_or(b'0');
            out.extend_from_slice(&[b'\\', b'u', b'0', b'0', digit(byte >> 4), digit(byte & 15)]);
        }
    }
}
