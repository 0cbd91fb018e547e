//! Compiling regular expressions, and telling what no linear-time engine can do from what is simply wrong.

use alloc::{
    format,
    string::{String, ToString},
};

use regex::{Error, Regex, RegexBuilder, RegexSet, RegexSetBuilder};

use crate::policy::{PolicyError, PolicyErrorKind, quoted};

/// The most that one compiled pattern, and one of its lazily built automata, may take, in bytes.
const SIZE_LIMIT: usize = 1 << 20;

/// Syntax of backtracking engines that `regex` does not name in its message.
const BACKTRACKING: [&str; 5] = ["(?P=", "\\k<", "\\k{", "(?>", "(?("];

/// Compiles a pattern; the errors begin with `regex:`.
pub(crate) fn compile(pattern: &str) -> Result<Regex, PolicyError> {
    let built = RegexBuilder::new(pattern).size_limit(SIZE_LIMIT).dfa_size_limit(SIZE_LIMIT).build();
    built.map_err(|error| explain(pattern, &error))
}

/// Compiles patterns that each compile into a set that is searched for in one go; `None` if together they are too large.
pub(super) fn compile_all(patterns: &[String]) -> Option<RegexSet> {
    RegexSetBuilder::new(patterns).size_limit(SIZE_LIMIT).dfa_size_limit(SIZE_LIMIT).build().ok()
}

fn explain(pattern: &str, error: &Error) -> PolicyError {
    let found = quoted(pattern);
    if let Error::CompiledTooBig(limit) = error {
        let what =
            format!("{found} compiles to more than {limit} bytes: use smaller repetition counts, or several rules");
        return PolicyError::invalid("regex", what);
    }
    let text = error.to_string();
    let reason = text.rsplit("error: ").next().unwrap_or_default().trim();
    if needs_backtracking(pattern, reason) {
        let what = format!(
            "{found} needs an engine that goes back ({reason}): rewrite it without look-around, backreferences and atomic \
             groups, or load the policy with the Python package, which runs such patterns under a time limit"
        );
        return PolicyError::new(PolicyErrorKind::UnsupportedRegex, "regex", what);
    }
    PolicyError::invalid("regex", format!("{found} is no regular expression ({reason}): correct or escape it"))
}

fn needs_backtracking(pattern: &str, reason: &str) -> bool {
    let named = reason.starts_with("look-around") || reason.starts_with("backreferences");
    named || BACKTRACKING.iter().any(|syntax| pattern.contains(syntax))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]

    use super::*;

    #[test]
    fn a_pattern_is_searched_for() {
        assert!(compile(r"(?i)\bdrop\s+table\b").unwrap().is_match("x; DROP  TABLE y"));
    }

    #[test]
    fn what_needs_backtracking_is_told_from_what_is_wrong() {
        for pattern in
            ["a(?=b)", "a(?!b)", "(?<=a)b", "(?<!a)b", r"(a)\1", "(?P<x>a)(?P=x)", r"(?<x>a)\k<x>", "(?>a+)b"]
        {
            let error = compile(pattern).unwrap_err();
            assert_eq!(error.kind, PolicyErrorKind::UnsupportedRegex, "{pattern}: {error}");
            assert!(error.message.contains("Python package"), "{error}");
        }
        for pattern in ["(", "[a", "*", "a{2,1}", r"\p{Nope}", "(?z)"] {
            let error = compile(pattern).unwrap_err();
            assert_eq!(error.kind, PolicyErrorKind::Invalid, "{pattern}: {error}");
            assert!(error.message.starts_with("regex: \""), "{error}");
        }
    }

    #[test]
    fn an_error_says_what_is_wrong_in_one_line() {
        let error = compile("(abc").unwrap_err();
        assert_eq!(error.message, "regex: \"(abc\" is no regular expression (unclosed group): correct or escape it");
    }

    #[test]
    fn a_pattern_that_would_take_much_memory_is_refused() {
        let error = compile(r"\w{500}{500}").unwrap_err();
        assert!(error.message.contains("bytes"), "{error}");
    }
}
