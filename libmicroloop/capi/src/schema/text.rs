//! Text of limited length on one line, for messages.

use std::string::String;

/// Control characters become spaces: a schema's text must not break out of the line that quotes it.
pub(super) fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// At most `limit` characters, and an ellipsis where some were left out.
pub(super) fn shorten(mut text: String, limit: usize) -> String {
    if let Some((at, _)) = text.char_indices().nth(limit) {
        text.truncate(at);
        text.push('…');
    }
    text
}
