//! What is measured on: arguments of 120 bytes, no two alike, and outcomes of 200.

/// How many calls a batch has. Few enough that the calls under way are what a busy agent has.
pub const BATCH: u32 = 64;

/// Every detector that a policy can have.
pub const POLICY: &str = r#"{"version": 1,
    "loops": {"repeat": {"warn": 3, "block": 5}, "write": {"warn": 2, "block": 3}, "cycle": {"warn": 3, "block": 5},
              "error": {"warn": 3, "block": 6}, "near": {"warn": 5}, "stall": {"warn": 8}, "text": {"warn": 3},
              "invalid": {"block": 3}, "retry": {"warn": 4, "block": 6}, "recur": {"warn": 20},
              "learned": ["request_id", "*_ts", "nonce"]},
    "tools": [{"match": "ruled", "rules": [
        {"id": "r0", "path": "query", "deny": {"regex": "(?i)\\bdrop\\s+table\\b"}},
        {"id": "r1", "path": "query", "deny": {"regex": "(?i)\\bdelete\\s+from\\b"}},
        {"id": "r2", "path": "query", "require": {"max_length": 200}},
        {"id": "r3", "path": "limit", "require": {"range": {"min": 1, "max": 100000}}},
        {"id": "r4", "path": "database", "require": {"one_of": ["main", "archive"]}},
        {"id": "r5", "path": "database", "deny": {"equals": "secrets"}},
        {"id": "r6", "path": "path", "deny": {"regex": "\\.\\./"}},
        {"id": "r7", "path": "query", "ask": {"regex": "(?i)\\bupdate\\b"}},
        {"id": "r8", "path": "admin", "deny": {"equals": true}},
        {"id": "r9", "require": {"max_length": 20}}]}]}"#;

/// The JSON Schema of the tool with rules, as a tool would bring it.
pub const SCHEMA: &str = r#"{"type": "object", "required": ["query", "database"], "additionalProperties": false,
    "properties": {"query": {"type": "string", "minLength": 1}, "database": {"type": "string"},
                   "limit": {"type": "integer", "minimum": 1}}}"#;

/// The arguments of call number `n`.
pub fn arguments(n: u64) -> String {
    let text = format!(
        r#"{{"query": "select name, total from orders where customer = {n:010} and open = 1", "database": "main", "limit": {:05}}}"#,
        n % 90_000 + 10_000
    );
    assert_eq!(text.len(), 120, "{text}");
    text
}

/// The next batch of arguments that never came before.
pub fn batch(next: &mut u64) -> Vec<String> {
    let from = *next;
    *next += u64::from(BATCH);
    (from..*next).map(arguments).collect()
}

/// An outcome that never came before.
pub fn outcome(n: u64) -> String {
    let row = format!("row {n:08}: name = customer, total = 17.50, open = true; ");
    let mut text = row.repeat(4);
    text.truncate(200);
    assert_eq!(text.len(), 200);
    text
}

/// A step that brings something new: what was done, as JSON, and what came back.
pub fn step(n: u64) -> (String, String) {
    (format!("\"cat module_{n}.py\""), format!("module {n} has functions f and g"))
}

/// What a host tells of a step besides.
pub const TOLD: &str = r#"{"state":null,"metrics":{"failures":0.0},"metadata":{"verifier":"tests"}}"#;
