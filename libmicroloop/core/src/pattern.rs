//! Patterns for the names of tools and arguments: `*` and `?`, the whole name, upper and lower case alike.
//!
//! A mismatch goes back to the latest `*` only, so the work is at most the pattern's length (256) times the name's.

use alloc::{boxed::Box, format, string::String, vec::Vec};
use core::fmt;

use serde::de::{self, Deserialize, Deserializer, SeqAccess, Visitor};

/// The longest pattern, in characters.
pub const MAX_PATTERN: usize = 256;

/// A pattern for names.
///
/// # Examples
/// ```
/// use microloop_core::pattern::NamePattern;
/// let pattern = NamePattern::new("delete_*")?;
/// assert!(pattern.matches("Delete_User"));
/// assert!(!pattern.matches("undelete_user"));
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamePattern {
    /// In lower case
    text: Box<str>,
    shape: Shape,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// `*`
    Every,
    /// Neither `*` nor `?`
    Literal,
    Glob,
}

impl NamePattern {
    /// Makes a pattern.
    ///
    /// # Errors
    /// A message, if the pattern is empty (it would match nothing) or longer than [`MAX_PATTERN`] characters.
    pub fn new(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Err("a name pattern is empty and matches nothing: write a name, or * for every name".into());
        }
        let length = text.chars().count();
        if length > MAX_PATTERN {
            return Err(format!(
                "a name pattern has {length} characters, at most {MAX_PATTERN} are allowed: shorten it with *"
            ));
        }
        let shape = match text {
            "*" => Shape::Every,
            _ if text.contains(['*', '?']) => Shape::Glob,
            _ => Shape::Literal,
        };
        let text = text.chars().map(lower).collect::<String>().into_boxed_str();
        Ok(Self { text, shape })
    }

    /// Whether the whole name matches.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        let ascii = name.is_ascii();
        match self.shape {
            Shape::Every => true,
            Shape::Literal if ascii => self.text.eq_ignore_ascii_case(name),
            Shape::Literal => self.text.chars().eq(name.chars().map(lower)),
            Shape::Glob if ascii => glob(&self.text, name.bytes().map(|b| char::from(b.to_ascii_lowercase()))),
            Shape::Glob => glob(&self.text, name.chars().map(lower)),
        }
    }
}

/// Lower case, but one character for one, so that `?` stays one character of the name.
fn lower(c: char) -> char {
    let mut lowered = c.to_lowercase();
    match (lowered.next(), lowered.next()) {
        (Some(one), None) => one,
        _ => c,
    }
}

fn glob(pattern: &str, name: impl Iterator<Item = char> + Clone) -> bool {
    let (mut wanted, mut rest) = (pattern.chars(), name);
    let mut latest_star = None;
    loop {
        let (mut after, mut remaining) = (wanted.clone(), rest.clone());
        match (after.next(), remaining.next()) {
            (None, None) => return true,
            (Some('*'), _) => {
                latest_star = Some((after.clone(), rest.clone()));
                wanted = after;
            }
            (Some(want), Some(found)) if want == '?' || want == found => (wanted, rest) = (after, remaining),
            _ => {
                // Let the latest star take one character more and try again from there.
                let Some((behind, from)) = &mut latest_star else { return false };
                if from.next().is_none() {
                    return false;
                }
                (wanted, rest) = (behind.clone(), from.clone());
            }
        }
    }
}

/// A list of patterns; a policy writes one as a string, several as a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Names(pub Vec<NamePattern>);

impl Names {
    /// Whether any of the patterns matches.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        self.0.iter().any(|pattern| pattern.matches(name))
    }

    /// Whether there are no patterns.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<'de> Deserialize<'de> for NamePattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::new(&String::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

impl<'de> Deserialize<'de> for Names {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NamesVisitor)
    }
}

struct NamesVisitor;

impl<'de> Visitor<'de> for NamesVisitor {
    type Value = Names;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name pattern or a list of name patterns")
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Names, E> {
        let pattern = NamePattern::new(value).map_err(E::custom)?;
        Ok(Names(Vec::from([pattern])))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Names, A::Error> {
        let mut patterns = Vec::new();
        while let Some(pattern) = access.next_element()? {
            patterns.push(pattern);
        }
        Ok(Names(patterns))
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]

    use alloc::string::ToString;

    use super::*;

    fn matches(pattern: &str, name: &str) -> bool {
        NamePattern::new(pattern).unwrap().matches(name)
    }

    #[test]
    fn a_name_matches_as_a_whole_and_in_any_case() {
        assert!(matches("Search", "sEARCH"));
        assert!(!matches("search", "search_web"));
        assert!(matches("ÄNDERN", "ändern"));
        assert!(!matches("search", "sucheß"));
    }

    #[test]
    fn a_star_is_any_run_and_a_question_mark_one_character() {
        for (pattern, name) in
            [("*", ""), ("*", "x"), ("a*", "a"), ("*_id", "User_ID"), ("a*b*c", "a-bb-b-c"), ("**", "x")]
        {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [("a*", "ba"), ("*_id", "_ids"), ("a?c", "ac"), ("?", ""), ("a*b*c", "acb"), ("*?", "")]
        {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
        assert!(matches("gr?ße*", "GRÖßEN"));
        assert!(matches("?", "İ"));
    }

    #[test]
    fn a_letter_that_lowers_to_ascii_is_that_letter() {
        assert!(matches("kelvin", "\u{212a}elvin"));
        assert!(matches("k*", "\u{212a}elvin"));
    }

    #[test]
    fn many_stars_do_not_blow_up() {
        let pattern = "*a".repeat(MAX_PATTERN / 2);
        assert!(!matches(&pattern, &"a".repeat(127)));
        assert!(!matches(&pattern, &alloc::format!("{}b", "a".repeat(100_000))));
    }

    #[test]
    fn an_empty_or_very_long_pattern_is_an_error() {
        assert!(NamePattern::new("").unwrap_err().contains("matches nothing"));
        assert!(NamePattern::new(&"x".repeat(257)).unwrap_err().contains("257"));
    }

    #[test]
    fn names_are_written_as_one_string_or_as_a_list() {
        let one: Names = serde_json::from_str(r#""get_*""#).unwrap();
        assert!(one.matches("get_user") && !one.matches("set_user"));
        let several: Names = serde_json::from_str(r#"["get_*", "list_*"]"#).unwrap();
        assert!(several.matches("LIST_users") && !several.is_empty());
        assert!(serde_json::from_str::<Names>("[]").unwrap().is_empty());
    }

    #[test]
    fn names_of_another_type_say_what_was_expected() {
        let error = serde_json::from_str::<Names>("[7]").unwrap_err().to_string();
        assert!(error.contains("expected a string"), "{error}");
        let error = serde_json::from_str::<Names>("null").unwrap_err().to_string();
        assert!(error.contains("list of name patterns"), "{error}");
    }
}
