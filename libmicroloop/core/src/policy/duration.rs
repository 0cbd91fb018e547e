//! Spans of time as people write them: `"500ms"`, `"30s"`, `"10m"`, `"2h"`, or a number of seconds.

use alloc::{format, string::String};
use core::fmt;

use serde::de::{self, Deserialize, Deserializer, Visitor};

use super::error::quoted;

const HELP: &str = "write \"500ms\", \"30s\", \"10m\", \"2h\" or a number of seconds";

/// Longer spans are taken for mistakes: a hundred years.
const LONGEST_MS: u64 = 100 * 366 * 24 * 3_600_000;

/// A span of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Duration {
    pub(crate) ms: u64,
}

impl Duration {
    fn parse(text: &str) -> Result<Self, String> {
        let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
        let unit = match text.strip_prefix(digits) {
            Some("ms") => 1,
            Some("s") => 1_000,
            Some("m") => 60_000,
            Some("h") => 3_600_000,
            _ => return Err(format!("{} is not a duration: {HELP}", quoted(text))),
        };
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return Err(format!("{} is not a duration: {HELP}, without sign or fraction", quoted(text)));
        }
        let count = digits.parse::<u64>().unwrap_or(u64::MAX);
        Self::of(count.saturating_mul(unit)).ok_or_else(|| too_long(quoted(text)))
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "negative numbers are refused first, large ones saturate and are refused afterwards"
    )]
    fn seconds(count: f64) -> Result<Self, String> {
        if count < 0.0 {
            return Err(format!("{count} is negative: {HELP}"));
        }
        Self::of((count * 1_000.0 + 0.5) as u64).ok_or_else(|| too_long(count))
    }

    fn of(ms: u64) -> Option<Self> {
        (ms <= LONGEST_MS).then_some(Self { ms })
    }
}

fn too_long(found: impl fmt::Display) -> String {
    format!("{found} is longer than a hundred years: leave it out where there is no limit")
}

impl<'de> Deserialize<'de> for Duration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(DurationVisitor)
    }
}

struct DurationVisitor;

#[expect(clippy::cast_precision_loss, reason = "numbers that large are refused as too long anyway")]
impl Visitor<'_> for DurationVisitor {
    type Value = Duration;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a duration ({HELP})")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Duration, E> {
        Duration::parse(text).map_err(E::custom)
    }

    fn visit_u64<E: de::Error>(self, seconds: u64) -> Result<Duration, E> {
        Duration::seconds(seconds as f64).map_err(E::custom)
    }

    fn visit_i64<E: de::Error>(self, seconds: i64) -> Result<Duration, E> {
        Duration::seconds(seconds as f64).map_err(E::custom)
    }

    fn visit_f64<E: de::Error>(self, seconds: f64) -> Result<Duration, E> {
        Duration::seconds(seconds).map_err(E::custom)
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]

    use alloc::string::ToString;

    use super::*;

    fn ms(json: &str) -> u64 {
        serde_json::from_str::<Duration>(json).unwrap().ms
    }

    fn refusal(json: &str) -> String {
        serde_json::from_str::<Duration>(json).unwrap_err().to_string()
    }

    #[test]
    fn every_unit_comes_out_in_milliseconds() {
        assert_eq!(ms(r#""500ms""#), 500);
        assert_eq!(ms(r#""30s""#), 30_000);
        assert_eq!(ms(r#""10m""#), 600_000);
        assert_eq!(ms(r#""2h""#), 7_200_000);
    }

    #[test]
    fn a_number_is_in_seconds() {
        assert_eq!(ms("0"), 0);
        assert_eq!(ms("90"), 90_000);
        assert_eq!(ms("0.25"), 250);
        assert_eq!(ms("0.1"), 100);
    }

    #[test]
    fn what_is_no_duration_says_what_to_write() {
        for json in
            [r#""""#, r#""30""#, r#""s""#, r#""1.5s""#, r#""-1s""#, r#""30 s""#, r#""3d""#, "-1", "-0.5", "null", "[]"]
        {
            assert!(refusal(json).contains("number of seconds"), "{json}");
        }
        assert!(refusal(r#""3 weeks""#).contains(r#""3 weeks""#));
    }

    #[test]
    fn a_span_without_end_is_a_mistake() {
        for json in [r#""99999999999999999999999h""#, r#""9999999h""#, "1e30", "18446744073709551615"] {
            assert!(refusal(json).contains("hundred years"), "{json}");
        }
    }
}
