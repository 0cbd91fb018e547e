//! How strictly the document is read: what serde lets pass by itself and a policy must not.

use alloc::{collections::BTreeMap, format, string::String};
use core::{fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer,
    de::{self, IntoDeserializer, MapAccess, Visitor, value::MapAccessDeserializer},
};

/// A part of the document that must be an object. (A derived struct can also be read from a list, by position.)
#[derive(Debug, Clone, Copy)]
pub(crate) struct Section<T>(pub(crate) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Section<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(SectionVisitor(PhantomData)).map(Section)
    }
}

struct SectionVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for SectionVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, access: A) -> Result<T, A::Error> {
        T::deserialize(MapAccessDeserializer::new(access))
    }
}

/// An object with free names, none of them twice. (A map read by serde keeps the last one silently.)
#[derive(Debug, Clone)]
pub(crate) struct Table<V>(pub(crate) BTreeMap<String, V>);

impl<V> Default for Table<V> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<'de, V: Deserialize<'de>> Deserialize<'de> for Table<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(TableVisitor(PhantomData)).map(Table)
    }
}

struct TableVisitor<V>(PhantomData<V>);

impl<'de, V: Deserialize<'de>> Visitor<'de> for TableVisitor<V> {
    type Value = BTreeMap<String, V>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
        let mut table = BTreeMap::new();
        while let Some((name, value)) = access.next_entry::<String, V>()? {
            if table.contains_key(&name) {
                return Err(de::Error::custom(format!("duplicate field `{name}`")));
            }
            table.insert(name, value);
        }
        Ok(table)
    }
}

/// One word out of a few. (`serde_json` takes a wrong type here for a syntax error, and an object for a word.)
#[derive(Debug, Clone, Copy)]
pub(crate) struct Word<T>(pub(crate) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Word<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        T::deserialize(text.into_deserializer()).map(Word)
    }
}

/// Reads a key that is there. With `default`, absence is `None` and `null` is an error, or, for an `Option` inside,
/// something else than absence: `null` switches off where absence inherits.
pub(crate) fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// Reads a key that must be there, though it may be `null`.
pub(crate) fn named<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    Option::deserialize(deserializer)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]

    use alloc::string::ToString;

    use super::{super::document::Switch, *};

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Sample {
        #[serde(default, deserialize_with = "present")]
        level: Switch<u32>,
        #[serde(default, deserialize_with = "present")]
        text: Option<String>,
    }

    fn read(json: &str) -> Result<Sample, String> {
        serde_json::from_str::<Section<Sample>>(json).map(|section| section.0).map_err(|error| error.to_string())
    }

    #[test]
    fn a_list_is_no_section() {
        assert!(read("[]").unwrap_err().contains("expected an object"));
        assert!(read("[null, \"x\"]").unwrap_err().contains("expected an object"));
    }

    #[test]
    fn an_unknown_key_in_a_section_still_has_its_line_and_column() {
        assert!(
            read("{\n  \"levl\": 1}")
                .unwrap_err()
                .contains("unknown field `levl`, expected `level` or `text` at line 2 column")
        );
    }

    #[test]
    fn null_is_told_from_absence() {
        assert_eq!(read("{}").unwrap().level, None);
        assert_eq!(read(r#"{"level": null}"#).unwrap().level, Some(None));
        assert_eq!(read(r#"{"level": 3}"#).unwrap().level, Some(Some(3)));
    }

    #[test]
    fn null_is_an_error_where_it_would_mean_nothing() {
        assert_eq!(read(r#"{"text": "x"}"#).unwrap().text.as_deref(), Some("x"));
        assert!(read(r#"{"text": null}"#).unwrap_err().contains("invalid type: null"));
    }

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Colour {
        Red,
        Blue,
    }

    #[test]
    fn a_word_is_a_text_and_one_of_those_known() {
        let word = |json: &str| serde_json::from_str::<Word<Colour>>(json).map(|word| word.0);
        assert_eq!(word("\"red\"").unwrap(), Colour::Red);
        assert!(word("\"Blue\"").unwrap_err().to_string().contains("unknown variant `Blue`, expected `red` or `blue`"));
        for json in ["null", "1", "{\"blue\": null}"] {
            let error = word(json).unwrap_err();
            assert!(error.is_data() && error.to_string().contains("expected a string"), "{error}");
        }
    }

    #[test]
    fn a_name_that_comes_twice_in_a_table_is_an_error() {
        let error = serde_json::from_str::<Table<u32>>(r#"{"a": 1, "a": 2}"#).unwrap_err();
        assert!(error.to_string().contains("duplicate field `a`"));
    }
}
