//! Why a policy cannot be used.

use alloc::{format, string::String};
use core::fmt::{self, Display};

/// What sort of failure it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PolicyErrorKind {
    /// The document is not UTF-8.
    NotUtf8,
    /// The document is not JSON.
    NotJson,
    /// It is JSON, but no policy.
    Invalid,
    /// A pattern needs look-around, backreferences or the like, which no linear-time engine has.
    UnsupportedRegex,
    /// The policy has a JSON Schema and this build cannot check one.
    NoSchemaSupport,
}

/// Why a policy cannot be used: where, what was found, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyError {
    /// What sort of failure it is
    pub kind: PolicyErrorKind,
    /// For people; begins with the place, as in `tools[2].rules[0].deny.regex: …`
    pub message: String,
}

impl PolicyError {
    /// An error at a place of the document.
    #[must_use]
    pub fn new(kind: PolicyErrorKind, place: &str, what: impl Display) -> Self {
        Self { kind, message: format!("{place}: {what}") }
    }

    pub(crate) fn invalid(place: &str, what: impl Display) -> Self {
        Self::new(PolicyErrorKind::Invalid, place, what)
    }

    /// The same error, seen from the section around it.
    pub(crate) fn within(mut self, section: impl Display) -> Self {
        self.message = format!("{section}.{}", self.message);
        self
    }
}

impl Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl core::error::Error for PolicyError {}

/// How much of a text from the document an error repeats, in characters.
const SHOWN: usize = 80;

/// A text from the document, in quotes, cut where it is long.
pub(crate) fn quoted(text: &str) -> String {
    let mut shown = text.chars().take(SHOWN).collect::<String>();
    if shown.len() < text.len() {
        shown.push('…');
    }
    format!("{shown:?}")
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn an_error_collects_its_place_from_the_inside_out() {
        let error = PolicyError::invalid("regex", "it is empty").within("deny").within("rules[0]");
        assert_eq!(error.to_string(), "rules[0].deny.regex: it is empty");
        assert_eq!(error.kind, PolicyErrorKind::Invalid);
    }

    #[test]
    fn a_long_text_is_shown_cut() {
        assert_eq!(quoted("a\"b"), r#""a\"b""#);
        assert_eq!(quoted(&"ä".repeat(100)).chars().count(), 83);
    }
}
