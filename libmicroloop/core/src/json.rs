//! The arguments of a call as a tree that borrows from the bytes it was read from.
//!
//! `serde_json` does the parsing; this module adds what a guard needs on top: duplicate keys and numbers that cannot be
//! told apart are errors, and object members come out in the order of RFC 8785.

use alloc::{borrow::Cow, string::String, vec::Vec};
use core::{cmp::Ordering, fmt};

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// A JSON value, as [`Json::parse`] makes it. Object members are sorted by the UTF-16 code units of their keys and no key comes twice.
#[derive(Debug, Clone, PartialEq)]
pub enum Json<'a> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number
    Number(Number),
    /// A string; borrowed only where it stands in JSON without escapes, so that it needs none when written again
    Text(Cow<'a, str>),
    /// An array
    Array(Vec<Json<'a>>),
    /// An object
    Object(Vec<(Cow<'a, str>, Json<'a>)>),
}

/// A JSON number. Floats with an integral value below 2^53 are kept as integers, so that `1` equals `1.0`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    /// Zero or more
    Unsigned(u64),
    /// Less than zero
    Signed(i64),
    /// Anything else
    Float(f64),
}

/// The largest integer up to which every integer is a double of its own (RFC 7493).
const EXACT: f64 = 9_007_199_254_740_992.0;

impl Number {
    /// The number as a double, as JSON's users in other languages see it.
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        reason = "a double is what RFC 8785 makes of a number"
    )]
    pub fn as_f64(self) -> f64 {
        match self {
            Self::Unsigned(n) => n as f64,
            Self::Signed(n) => n as f64,
            Self::Float(x) => x,
        }
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::float_cmp,
        reason = "the round trip below EXACT is what is being tested"
    )]
    fn from_f64(x: f64) -> Self {
        let whole = x as i64;
        if x.abs() < EXACT && whole as f64 == x {
            Self::from_i64(whole)
        } else {
            Self::Float(x)
        }
    }

    fn from_i64(n: i64) -> Self {
        u64::try_from(n).map_or(Self::Signed(n), Self::Unsigned)
    }
}

/// Why bytes are not the arguments of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonError {
    message: String,
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl core::error::Error for JsonError {}

impl<'a> Json<'a> {
    /// Reads one JSON value.
    ///
    /// # Errors
    /// [`JsonError`] says what is wrong and where: not JSON, not UTF-8, nested deeper than 127 levels, a key that comes
    /// twice in one object, a lone surrogate, or an integer that does not fit into 64 bits.
    ///
    /// # Examples
    /// ```
    /// use microloop_core::json::Json;
    /// assert_eq!(Json::parse(b"1")?, Json::parse(b"1.0")?);
    /// assert!(Json::parse(br#"{"a": 1, "a": 2}"#).is_err());
    /// # Ok::<(), microloop_core::json::JsonError>(())
    /// ```
    pub fn parse(bytes: &'a [u8]) -> Result<Self, JsonError> {
        let text = core::str::from_utf8(bytes).map_err(|error| JsonError {
            message: alloc::format!("not UTF-8 from byte {} on", error.valid_up_to()),
        })?;
        let parsed = serde_json::from_str(text).map_err(|error| JsonError { message: alloc::format!("{error}") })?;
        if has_huge_float(&parsed) && has_huge_integer(bytes) {
            return Err(JsonError {
                message: "integer does not fit into 64 bits: send it as a string".into(),
            });
        }
        Ok(parsed)
    }

    /// The member of an object, or `None` where there is none or this is no object.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Object(members) => members.iter().find(|(name, _)| name == key).map(|(_, value)| value),
            _ => None,
        }
    }
}

/// Whether a number is so large that it may have been an integer whose digits a double cannot hold.
fn has_huge_float(value: &Json<'_>) -> bool {
    match value {
        Json::Number(Number::Float(x)) => x.abs() >= 9.2e18,
        Json::Array(items) => items.iter().any(has_huge_float),
        Json::Object(members) => members.iter().any(|(_, item)| has_huge_float(item)),
        _ => false,
    }
}

/// Whether a valid JSON text has an integer literal that fits neither `i64` nor `u64`.
fn has_huge_integer(text: &[u8]) -> bool {
    let mut rest = text;
    while let Some((&first, after)) = rest.split_first() {
        rest = match first {
            b'"' => skip_string(after),
            b'-' | b'0'..=b'9' => {
                let end = rest.iter().position(|b| !is_number_byte(*b)).unwrap_or(rest.len());
                let (literal, after) = rest.split_at(end);
                if is_huge_integer(literal) {
                    return true;
                }
                after
            }
            _ => after,
        };
    }
    false
}

fn skip_string(mut rest: &[u8]) -> &[u8] {
    while let Some((&first, after)) = rest.split_first() {
        rest = match first {
            b'"' => return after,
            b'\\' => after.get(1..).unwrap_or_default(),
            _ => after,
        };
    }
    rest
}

fn is_number_byte(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E')
}

fn is_huge_integer(literal: &[u8]) -> bool {
    let Ok(text) = core::str::from_utf8(literal) else {
        return false;
    };
    !text.contains(['.', 'e', 'E']) && text.parse::<u64>().is_err() && text.parse::<i64>().is_err()
}

/// The order of RFC 8785, 3.2.3: by UTF-16 code units. It differs from the order of the bytes only between characters from
/// U+E000 on, whose UTF-8 begins with 0xEE or more.
pub(crate) fn by_utf16(a: &str, b: &str) -> Ordering {
    match a.bytes().zip(b.bytes()).find(|(x, y)| x != y) {
        None => a.len().cmp(&b.len()),
        Some((x, y)) if x < 0xee || y < 0xee => x.cmp(&y),
        Some(_) => a.encode_utf16().cmp(b.encode_utf16()),
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Json<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TreeVisitor(core::marker::PhantomData))
    }
}

struct TreeVisitor<'a>(core::marker::PhantomData<&'a ()>);

impl<'de: 'a, 'a> Visitor<'de> for TreeVisitor<'a> {
    type Value = Json<'a>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
        Ok(Json::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
        Ok(Json::Number(Number::Unsigned(value)))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
        Ok(Json::Number(Number::from_i64(value)))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Self::Value, E> {
        Ok(Json::Number(Number::from_f64(value)))
    }

    fn visit_borrowed_str<E>(self, value: &'de str) -> Result<Self::Value, E> {
        Ok(Json::Text(Cow::Borrowed(value)))
    }

    fn visit_str<E>(self, value: &str) -> Result<Self::Value, E> {
        Ok(Json::Text(Cow::Owned(value.into())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element()? {
            items.push(item);
        }
        Ok(Json::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::with_capacity(4);
        while let Some((Key(key), value)) = access.next_entry()? {
            members.push((key, value));
        }
        members.sort_unstable_by(|(a, _), (b, _)| by_utf16(a, b));
        let repeated = members
            .windows(2)
            .any(|pair| matches!(pair, [(a, _), (b, _)] if a == b));
        if repeated {
            return Err(de::Error::custom("the same key comes twice in one object"));
        }
        Ok(Json::Object(members))
    }
}

/// An object key that borrows where it has no escapes. (`Cow`'s own implementation always copies.)
struct Key<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Key<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(KeyVisitor).map(Key)
    }
}

struct KeyVisitor;

impl<'de> Visitor<'de> for KeyVisitor {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object key")
    }

    fn visit_borrowed_str<E>(self, value: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(value.into()))
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]

    use alloc::{format, string::ToString};

    use super::*;

    fn refusal(text: &[u8]) -> String {
        Json::parse(text).unwrap_err().to_string()
    }

    #[test]
    fn a_number_is_what_it_is_worth_however_it_is_written() {
        for spelling in ["1", "1.0", "1e0", "10e-1"] {
            assert_eq!(Json::parse(spelling.as_bytes()).unwrap(), Json::Number(Number::Unsigned(1)));
        }
        assert_eq!(Json::parse(b"-0.0").unwrap(), Json::Number(Number::Unsigned(0)));
    }

    #[test]
    fn strings_without_escapes_are_borrowed() {
        let parsed = Json::parse(br#"{"plain": "text"}"#).unwrap();
        assert!(matches!(parsed.get("plain"), Some(Json::Text(Cow::Borrowed("text")))));
    }

    #[test]
    fn a_key_that_comes_twice_is_refused_also_when_escaped() {
        assert!(refusal(br#"{"a": 1, "b": {"a": 1, "\u0061": 2}}"#).contains("twice"));
    }

    #[test]
    fn integers_beyond_64_bits_are_refused_and_large_floats_are_not() {
        assert!(refusal(b"[18446744073709551616]").contains("64 bits"));
        assert!(refusal(br#"{"a\"": -9223372036854775809}"#).contains("64 bits"));
        assert!(Json::parse(b"18446744073709551615").is_ok());
        assert!(Json::parse(b"[1e300, \"18446744073709551616\", 18446744073709551616.0]").is_ok());
    }

    #[test]
    fn large_integers_keep_all_their_digits() {
        assert_ne!(Json::parse(b"9007199254740992").unwrap(), Json::parse(b"9007199254740993").unwrap());
    }

    #[test]
    fn what_is_no_json_is_refused_with_its_place() {
        for text in [&b"{"[..], b"NaN", b"[1,]", b"\"\\ud800\"", b"", b"1 2", b"Infinity"] {
            assert!(refusal(text).contains("line 1 column"), "{}", refusal(text));
        }
    }

    #[test]
    fn what_is_no_utf8_is_refused_with_its_place() {
        assert_eq!(refusal(b"\"\xff\""), "not UTF-8 from byte 1 on");
    }

    #[test]
    fn nesting_beyond_the_limit_is_refused_without_overflowing_the_stack() {
        let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
        assert!(refusal(deep.as_bytes()).contains("recursion limit"));
    }

    #[test]
    fn members_are_sorted_by_utf16_code_units() {
        let parsed = Json::parse("{\"\u{fb33}\": 1, \"\u{1f600}\": 2, \"a\": 3}".as_bytes()).unwrap();
        let Json::Object(members) = parsed else { panic!("no object") };
        let keys: Vec<_> = members.iter().map(|(key, _)| key.as_ref()).collect();
        assert_eq!(keys, ["a", "\u{1f600}", "\u{fb33}"]);
    }
}
