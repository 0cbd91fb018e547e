//! The published vectors of RFC 8785 (`tests/vectors/rfc8785.json`).

#![expect(clippy::expect_used, clippy::indexing_slicing, reason = "a test speaks by panicking")]

use microloop_core::{canonical, json::Json};
use serde_json::Value;

fn vectors(group: &str) -> Vec<Value> {
    let vectors: Value =
        serde_json::from_str(include_str!("../../../tests/vectors/rfc8785.json")).expect("a file of vectors");
    vectors[group].as_array().expect("a group of vectors").clone()
}

fn text(vector: &Value, key: &str) -> String {
    vector[key].as_str().expect("a text").to_string()
}

fn canonical_text(json: &str) -> String {
    let mut out = Vec::new();
    canonical::write(&Json::parse(json.as_bytes()).expect("JSON"), &mut out);
    String::from_utf8(out).expect("UTF-8")
}

#[test]
fn numbers_are_written_as_appendix_b_says() {
    for vector in vectors("numbers") {
        let bits = u64::from_str_radix(&text(&vector, "ieee"), 16).expect("hexadecimal");
        let json = text(&vector, "json");
        assert_eq!(json.parse::<f64>().expect("a number").to_bits(), bits, "the vector itself: {vector}");
        assert_eq!(canonical_text(&json), text(&vector, "canonical"), "{vector}");
    }
}

#[test]
fn texts_and_keys_are_written_as_section_3_says() {
    for vector in vectors("texts") {
        assert_eq!(canonical_text(&text(&vector, "json")), text(&vector, "canonical"), "{vector}");
    }
}

#[test]
fn canonical_text_stays_as_it_is() {
    for vector in vectors("texts") {
        let canonical = text(&vector, "canonical");
        assert_eq!(canonical_text(&canonical), canonical);
    }
}

#[test]
fn what_has_no_canonical_form_is_refused() {
    for vector in vectors("refused") {
        assert!(Json::parse(text(&vector, "json").as_bytes()).is_err(), "{vector}");
    }
}
