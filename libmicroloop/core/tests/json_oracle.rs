//! The parser of arguments against `serde_json`: it takes what `serde_json` takes, with the same meaning, but for what it refuses on purpose.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use microloop_core::{canonical, json::Json};
use serde_json::Value;

/// Fragments that texts are put together from; most results are nearly JSON.
const FRAGMENTS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"a\"",
    "\"b\"",
    "\"\\u0061\"",
    "\"\\ud83d\\ude00\"",
    "\"\\ud800\"",
    "\"\u{e9}\u{fb33}\u{1f600}\"",
    "\"\\n\\\\\\/\\\"\"",
    "\"",
    "\\",
    "0",
    "1",
    "-1",
    "-0",
    "01",
    "1.5",
    "1.",
    ".5",
    "1e5",
    "1E+2",
    "1e",
    "-",
    "1e400",
    "9007199254740993",
    "18446744073709551615",
    "18446744073709551616",
    "-9223372036854775809",
    "true",
    "false",
    "null",
    "nul",
    "NaN",
    " ",
    "\t",
    "\n",
    "\u{1}",
    "\"\u{1}\"",
    "[]",
    "{}",
    "[[1]]",
    "{\"k\":1}",
    "{\"k\":1,\"k\":2}",
];

/// The refusals that `serde_json` does not share.
const STRICTER: &[&str] = &["the same key comes twice", "does not fit into 64 bits"];

#[test]
fn it_takes_what_serde_json_takes_and_means_the_same() {
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = |bound: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        usize::try_from(random % u64::try_from(bound).unwrap()).unwrap()
    };
    let mut taken = 0;
    for _ in 0..200_000 {
        let text: String = (0..=next(9)).map(|_| *FRAGMENTS.get(next(FRAGMENTS.len())).unwrap()).collect();
        taken += usize::from(agrees(&text));
    }
    assert!(taken > 10_000, "only {taken} of the texts were JSON");
}

/// Whether `text` is JSON; panics where the two parsers differ.
fn agrees(text: &str) -> bool {
    let oracle = serde_json::from_str::<Value>(text);
    match (Json::parse(text.as_bytes()), oracle) {
        (Ok(json), Ok(value)) => {
            let mut canonical = Vec::new();
            canonical::write(&json, &mut canonical);
            let again: Value = serde_json::from_slice(&canonical).unwrap();
            assert!(same(&again, &value), "{text:?}: {again} is not {value}");
            true
        }
        (Err(_), Err(_)) => false,
        (Err(error), Ok(_)) => {
            let error = error.to_string();
            assert!(STRICTER.iter().any(|reason| error.contains(reason)), "{text:?}: {error}");
            false
        }
        (Ok(_), Err(error)) => panic!("{text:?} is no JSON: {error}"),
    }
}

/// Numbers are the same if they are worth the same: `1` and `1.0`.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || (a.as_f64() == b.as_f64() && !(a.is_u64() && b.is_u64())),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        _ => a == b,
    }
}
