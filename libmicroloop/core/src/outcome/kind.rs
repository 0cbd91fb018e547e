//! What kind of outcome it is: substance, an acknowledgement, nothing, or a failure.

use crate::{
    digest::Digest,
    json::{Json, Number},
};

/// The kind of an outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It says something.
    Substance,
    /// It only says that the call was carried out.
    Acknowledgement,
    /// It says that there is nothing.
    Empty,
    /// The call failed; the digest is the identity of the error.
    Failure(Digest),
}

/// Longer outcomes say something; it is not worth reading them.
const SHORT: usize = 256;

const EMPTY: &[&str] = &["", "()", "\"\"", "''", "n/a", "0 results", "empty"];

const EMPTY_BEGINNINGS: &[&str] = &[
    "no results",
    "no result",
    "no matches",
    "no match",
    "no rows",
    "no data",
    "no entries",
    "no items",
    "no records",
    "no documents",
    "no files found",
    "no hits",
    "nothing found",
    "nothing was found",
    "0 results",
    "0 matches",
    "0 rows",
    "found 0 ",
    "no output",
    "(no output)",
    "empty result",
];

const ACKNOWLEDGEMENTS: &[&str] = &[
    "true",
    "ok",
    "okay",
    "done",
    "success",
    "successful",
    "succeeded",
    "completed",
    "updated",
    "saved",
    "sent",
    "created",
    "deleted",
    "clicked",
    "accepted",
    "1",
    "yes",
    // What functions that return nothing return.
    "null",
    "none",
    "nil",
];

/// `The file a.py has been edited.`: a short report that the call was carried out.
const REPORTS: &[&str] = &[" has been ", " have been ", " was ", " were ", "successfully "];
const DEEDS: &[&str] = &[
    "edited", "updated", "created", "written", "saved", "sent", "added", "deleted", "moved", "removed", "inserted",
    "replaced", "renamed", "uploaded", "copied", "applied",
];
const REPORT_WORDS: usize = 12;
const REPORT: usize = 100;

/// Members under which APIs list what they found.
const LISTS: &[&str] = &[
    "results",
    "result",
    "items",
    "data",
    "matches",
    "hits",
    "rows",
    "records",
    "entries",
    "documents",
    "files",
    "content",
    "messages",
    "values",
];

const FAILURE_BEGINNINGS: &[&str] = &["error:", "error ", "exception:", "fatal:", "traceback (most recent call last)"];

/// What a result says of itself; `None` that it is an error.
pub(crate) fn of_result(bytes: &[u8]) -> Option<Kind> {
    let text = bytes.trim_ascii();
    match text.first() {
        Some(b'{') => of_object(text),
        Some(b'[') => Some(if is_empty_list(text) { Kind::Empty } else { Kind::Substance }),
        Some(b'e' | b'E' | b'f' | b'F' | b't' | b'T') if starts_with_any(text, FAILURE_BEGINNINGS) => None,
        _ => Some(of_words(text)),
    }
}

fn is_empty_list(text: &[u8]) -> bool {
    matches!(text, [b'[', between @ .., b']'] if between.trim_ascii().is_empty())
}

fn of_object(text: &[u8]) -> Option<Kind> {
    if text.len() > SHORT {
        return Some(Kind::Substance);
    }
    match Json::parse(text) {
        Ok(value) if is_error_object(&value) => None,
        Ok(value) if is_nothing(&value) => Some(Kind::Empty),
        Ok(value) if is_acknowledgement(&value) => Some(Kind::Acknowledgement),
        _ => Some(Kind::Substance),
    }
}

fn of_words(text: &[u8]) -> Kind {
    if text.len() > SHORT {
        return Kind::Substance;
    }
    let bare = text.trim_suffix_of(b".!");
    if is_any(bare, EMPTY) || starts_with_any(text, EMPTY_BEGINNINGS) {
        Kind::Empty
    } else if is_any(bare.trim_quotes(), ACKNOWLEDGEMENTS) || is_report(text) {
        Kind::Acknowledgement
    } else {
        Kind::Substance
    }
}

fn is_any(text: &[u8], words: &[&str]) -> bool {
    words.iter().any(|word| text.eq_ignore_ascii_case(word.as_bytes()))
}

fn starts_with_any(text: &[u8], beginnings: &[&str]) -> bool {
    let Some(first) = text.first().map(u8::to_ascii_lowercase) else { return false };
    // Nearly all of them differ in the first letter already.
    beginnings.iter().map(|beginning| beginning.as_bytes()).any(|beginning| {
        beginning.first() == Some(&first)
            && text.get(..beginning.len()).is_some_and(|head| head.eq_ignore_ascii_case(beginning))
    })
}

fn is_report(text: &[u8]) -> bool {
    if text.len() > REPORT {
        return false;
    }
    let words = || text.split(u8::is_ascii_whitespace).map(|word| word.trim_suffix_of(b".!,"));
    let says = |phrase: &&str| text.windows(phrase.len()).any(|part| part.eq_ignore_ascii_case(phrase.as_bytes()));
    // The phrase comes last: looking for it takes longest, and few texts have such a word.
    words().count() <= REPORT_WORDS && words().any(is_deed) && REPORTS.iter().any(says)
}

fn is_deed(word: &[u8]) -> bool {
    // Few words end as all deeds do, and this is asked of every word of a short result.
    matches!(word.last(), Some(b'd' | b'D' | b'n' | b'N' | b't' | b'T')) && is_any(word, DEEDS)
}

fn is_error_object(value: &Json<'_>) -> bool {
    let says = |key: &str, wanted: bool| value.get(key) == Some(&Json::Bool(wanted));
    let named = value.get("error").is_some_and(|error| !matches!(error, Json::Null | Json::Bool(false)));
    named || says("isError", true) || says("is_error", true) || says("success", false) || says("ok", false)
}

/// `{}`, or an object whose lists are all empty and that has at least one under a usual name.
fn is_nothing(value: &Json<'_>) -> bool {
    let Json::Object(members) = value else { return false };
    let empty_list = |item: &Json<'_>| matches!(item, Json::Array(list) if list.is_empty());
    let listed = members.iter().any(|(key, item)| LISTS.contains(&key.as_ref()) && empty_list(item));
    members.is_empty() || (listed && members.iter().all(|(_, item)| empty_list(item) || is_plain(item)))
}

/// A member that can stand beside an empty list without saying anything: a zero, a text, a flag.
fn is_plain(item: &Json<'_>) -> bool {
    match item {
        Json::Number(number) => *number == Number::Unsigned(0),
        Json::Null | Json::Bool(_) | Json::Text(_) => true,
        Json::Array(_) | Json::Object(_) => false,
    }
}

fn is_acknowledgement(value: &Json<'_>) -> bool {
    let Json::Object(members) = value else { return false };
    let says_yes = |item: &Json<'_>| match item {
        Json::Bool(yes) => *yes,
        Json::Text(text) => is_any(text.as_bytes(), ACKNOWLEDGEMENTS),
        _ => false,
    };
    members.len() <= 3 && !members.is_empty() && members.iter().all(|(_, item)| says_yes(item))
}

/// Small trims that `[u8]` lacks.
trait Trim {
    fn trim_suffix_of(&self, bytes: &[u8]) -> &Self;
    fn trim_quotes(&self) -> &Self;
}

impl Trim for [u8] {
    fn trim_suffix_of(&self, bytes: &[u8]) -> &Self {
        match self.split_last() {
            Some((last, rest)) if bytes.contains(last) => rest,
            _ => self,
        }
    }

    fn trim_quotes(&self) -> &Self {
        match self {
            [b'"', inner @ .., b'"'] | [b'\'', inner @ .., b'\''] => inner,
            _ => self,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_says_that_there_is_nothing_is_empty() {
        for text in [
            "",
            "  \n",
            "[]",
            "{}",
            "No results found for your query.",
            "Found 0 matches",
            r#"{"results": [], "count": 0}"#,
        ] {
            assert_eq!(of_result(text.as_bytes()), Some(Kind::Empty), "{text}");
        }
    }

    #[test]
    fn what_only_says_yes_is_an_acknowledgement() {
        for text in [
            "true",
            "OK",
            "Done.",
            "null",
            "None",
            "\"ok\"",
            "The file app.py has been edited.",
            "Successfully created 3 rows",
            r#"{"status": "ok"}"#,
            r#"{"success": true}"#,
        ] {
            assert_eq!(of_result(text.as_bytes()), Some(Kind::Acknowledgement), "{text}");
        }
    }

    #[test]
    fn what_says_something_is_substance() {
        for text in [
            "42",
            "false",
            "not ok",
            "The order was late",
            "the build was red",
            r#"{"name": "x", "tags": []}"#,
            r#"{"results": [], "total": 7}"#,
            "[0]",
        ] {
            assert_eq!(of_result(text.as_bytes()), Some(Kind::Substance), "{text}");
        }
    }

    #[test]
    fn a_result_can_say_of_itself_that_it_failed() {
        for text in [
            "Error: no such file",
            " error: x",
            "Traceback (most recent call last):\n  File",
            r#"{"error": "gone"}"#,
            r#"{"isError": true}"#,
        ] {
            assert_eq!(of_result(text.as_bytes()), None, "{text}");
        }
        for text in ["Errors are documented here", "fine", r#"{"error": null, "rows": 3}"#, "Terror", "12 errors"] {
            assert_ne!(of_result(text.as_bytes()), None, "{text}");
        }
    }
}
