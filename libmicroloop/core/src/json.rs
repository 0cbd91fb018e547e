//! The arguments of a call as a tree that borrows from the bytes it was read from.
//!
//! The parser is our own: it stands in every tool call, and a guard must not be more lenient than whoever reads the
//! arguments next. `serde_json` takes duplicate keys, makes doubles of large integers, and without `float_roundtrip` rounds some doubles
//! to a neighbour; with visitors that mend all that, the same tree takes a fifth more instructions. It is the oracle in `tests/json_oracle.rs`.

mod order;
mod parse;
mod scan;

use alloc::{borrow::Cow, string::String, vec::Vec};
use core::fmt;

pub use parse::DEEPEST;
pub(crate) use scan::plain;

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
    #[expect(clippy::cast_precision_loss, reason = "a double is what RFC 8785 makes of a number")]
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
    pub(crate) fn from_f64(x: f64) -> Self {
        let whole = x as i64;
        if x.abs() < EXACT && whole as f64 == x { Self::from_i64(whole) } else { Self::Float(x) }
    }

    pub(crate) fn from_i64(n: i64) -> Self {
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
    /// [`JsonError`] says what is wrong and at which byte: not JSON (RFC 8259), not UTF-8, nested deeper than
    /// [`DEEPEST`] levels, a key that comes twice in one object, a lone surrogate, an integer that does not fit into 64 bits, or
    /// a number too large for a double.
    ///
    /// # Examples
    /// ```
    /// use microloop_core::json::Json;
    /// assert_eq!(Json::parse(b"1")?, Json::parse(b"1.0")?);
    /// assert!(Json::parse(br#"{"a": 1, "a": 2}"#).is_err());
    /// # Ok::<(), microloop_core::json::JsonError>(())
    /// ```
    pub fn parse(bytes: &'a [u8]) -> Result<Self, JsonError> {
        let text = core::str::from_utf8(bytes)
            .map_err(|error| JsonError { message: alloc::format!("not UTF-8 from byte {} on", error.valid_up_to()) })?;
        parse::parse(text).map_err(|(what, at)| JsonError { message: alloc::format!("{what} at byte {at}") })
    }

    /// An object of members that come in any order and no key twice.
    pub(crate) fn object(mut members: Vec<(Cow<'a, str>, Self)>) -> Self {
        members.sort_unstable_by(|(a, _), (b, _)| order::by_utf16(a, b));
        Self::Object(members)
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

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

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
            assert!(refusal(text).contains("at byte"), "{}", refusal(text));
        }
    }

    #[test]
    fn what_is_no_utf8_is_refused_with_its_place() {
        assert_eq!(refusal(b"\"\xff\""), "not UTF-8 from byte 1 on");
    }

    #[test]
    fn nesting_beyond_the_limit_is_refused_without_overflowing_the_stack() {
        let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
        assert!(refusal(deep.as_bytes()).contains("128 levels"));
    }

    #[test]
    fn members_are_sorted_by_utf16_code_units() {
        let parsed = Json::parse("{\"\u{fb33}\": 1, \"\u{1f600}\": 2, \"a\": 3}".as_bytes()).unwrap();
        let Json::Object(members) = parsed else { panic!("no object") };
        let keys: Vec<_> = members.iter().map(|(key, _)| key.as_ref()).collect();
        assert_eq!(keys, ["a", "\u{1f600}", "\u{fb33}"]);
    }
}
