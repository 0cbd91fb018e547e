//! Where in the arguments a rule looks: `filter.tags[0].name`, `recipients[*]`.

use alloc::{boxed::Box, format, vec::Vec};

use crate::{
    json::Json,
    policy::{PolicyError, quoted},
};

/// The deepest path, in parts.
const MAX_PARTS: usize = 32;

/// A parsed path. The empty one is the whole of the arguments.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Path(Box<[Part]>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Key(Box<str>),
    Item(usize),
    EachItem,
}

impl Path {
    /// Reads a path; the errors begin with `path:`.
    pub(crate) fn parse(text: &str) -> Result<Self, PolicyError> {
        let mut parts = Vec::new();
        for (at, step) in text.split('.').enumerate() {
            let (key, items) = match step.split_once('[') {
                Some((key, items)) => (key, Some(items)),
                None => (step, None),
            };
            if !key.is_empty() {
                parts.push(read_key(key).map_err(|what| wrong(text, what))?);
            } else if at > 0 || items.is_none() {
                return Err(wrong(text, "a key is empty"));
            }
            for item in items.into_iter().flat_map(|items| items.split('[')) {
                parts.push(read_item(item).map_err(|what| wrong(text, what))?);
            }
        }
        if parts.len() > MAX_PARTS {
            return Err(wrong(text, "it has more than 32 parts"));
        }
        Ok(Self(parts.into()))
    }

    /// Whether the whole of the arguments is meant.
    pub(crate) fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether `fires` says so of any value at this path. Where there is none it is asked about `None`; an array without
    /// items has nothing to ask about.
    pub(crate) fn any(&self, arguments: &Json<'_>, fires: &impl Fn(Option<&Json<'_>>) -> bool) -> bool {
        walk(&self.0, arguments, fires)
    }
}

fn walk(parts: &[Part], value: &Json<'_>, fires: &impl Fn(Option<&Json<'_>>) -> bool) -> bool {
    let Some((part, rest)) = parts.split_first() else {
        return fires(Some(value));
    };
    let next = match (part, value) {
        (Part::EachItem, Json::Array(items)) => return items.iter().any(|item| walk(rest, item, fires)),
        (Part::Item(at), Json::Array(items)) => items.get(*at),
        (Part::Key(key), _) => value.get(key),
        _ => None,
    };
    match next {
        Some(next) => walk(rest, next, fires),
        None => fires(None),
    }
}

fn read_key(key: &str) -> Result<Part, &'static str> {
    match key {
        "*" => Err("* stands for items of arrays only, in brackets: [*]"),
        _ if key.contains(']') => Err("] has no ["),
        _ => Ok(Part::Key(key.into())),
    }
}

fn read_item(item: &str) -> Result<Part, &'static str> {
    let inner = item.strip_suffix(']').ok_or("[ has no ], or something other than . or [ follows it")?;
    if inner == "*" {
        return Ok(Part::EachItem);
    }
    let digits = !inner.is_empty() && inner.bytes().all(|b| b.is_ascii_digit());
    let index = digits.then(|| inner.parse().ok()).flatten();
    index.map(Part::Item).ok_or("between [ and ] stands a number or *")
}

fn wrong(text: &str, what: &str) -> PolicyError {
    let message =
        format!("{} is no path ({what}): write dotted keys with [0] or [*], as in filter.tags[0].name", quoted(text));
    PolicyError::invalid("path", message)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]

    use core::cell::RefCell;

    use alloc::string::String;

    use super::*;

    const ARGUMENTS: &[u8] =
        br#"{"sql": "x", "filter": {"tags": [{"name": "a"}, {"name": "b"}, {}]}, "m": [[1, 2], [3]], "none": []}"#;

    /// What the path leads to, `-` for nothing.
    fn found(path: &str) -> String {
        let seen = RefCell::new(String::new());
        let arguments = Json::parse(ARGUMENTS).unwrap();
        Path::parse(path).unwrap().any(&arguments, &|value| {
            let text = match value {
                None => "-".into(),
                Some(Json::Text(text)) => text.clone().into_owned(),
                Some(Json::Number(number)) => format!("{}", number.as_f64()),
                Some(_) => "{}".into(),
            };
            seen.borrow_mut().push_str(&text);
            false
        });
        seen.into_inner()
    }

    #[test]
    fn keys_and_items_lead_to_one_value() {
        assert_eq!(found("sql"), "x");
        assert_eq!(found("filter.tags[1].name"), "b");
        assert_eq!(found("m[0][1]"), "2");
    }

    #[test]
    fn a_star_leads_to_every_item() {
        assert_eq!(found("filter.tags[*].name"), "ab-");
        assert_eq!(found("m[*][*]"), "123");
        assert_eq!(found("m[*][1]"), "2-");
    }

    #[test]
    fn what_is_not_there_is_asked_about_once() {
        for path in ["other", "sql.x", "sql[0]", "filter[*]", "filter.tags[9]", "m[0][0].deeper", "other[*].name"] {
            assert_eq!(found(path), "-", "{path}");
        }
    }

    #[test]
    fn an_empty_array_has_nothing_to_ask_about() {
        assert_eq!(found("none[*]"), "");
        assert_eq!(found("none[0]"), "-");
    }

    #[test]
    fn the_root_can_be_an_array() {
        let arguments = Json::parse(b"[7]").unwrap();
        let path = Path::parse("[0]").unwrap();
        assert!(path.any(&arguments, &|value| value == Some(&Json::parse(b"7").unwrap())));
    }

    #[test]
    fn the_search_ends_with_the_first_hit() {
        let count = RefCell::new(0);
        let arguments = Json::parse(ARGUMENTS).unwrap();
        let path = Path::parse("m[*][*]").unwrap();
        assert!(path.any(&arguments, &|_| {
            *count.borrow_mut() += 1;
            true
        }));
        assert_eq!(count.into_inner(), 1);
    }

    #[test]
    fn what_is_no_path_is_an_error_that_says_why() {
        for (path, why) in [
            ("", "empty"),
            ("a..b", "empty"),
            (".a", "empty"),
            ("a.", "empty"),
            ("a.[0]", "empty"),
            ("a[", "no ]"),
            ("a[0]b", "follows"),
            ("a]", "has no ["),
            ("a[-1]", "number or *"),
            ("a[]", "number or *"),
            ("a[99999999999999999999]", "number or *"),
            ("headers.*", "[*]"),
            (&"a.".repeat(33), "empty"),
            (&alloc::vec!["a"; 33].join("."), "32"),
        ] {
            let error = Path::parse(path).unwrap_err();
            assert!(error.message.starts_with("path: \"") && error.message.contains(why), "{error}");
        }
    }
}
