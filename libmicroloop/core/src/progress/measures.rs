//! What the host knows of a step besides its call and outcome.
//!
//! It tells it as JSON: `{"state": …, "metrics": {"failures": 3}, "metadata": {"verifier": "unit"}}`. Whatever else stands there
//! is skipped, and that something was skipped is told.

use alloc::{borrow::Cow, string::String, vec::Vec};

use crate::{
    canonical,
    digest::Digest,
    json::{Json, JsonError, Number},
    outcome::Outcome,
};

/// Numbers with such names tell what a step took, not what the world looks like.
const COSTS: [&str; 10] = ["token", "cost", "usd", "price", "latency", "duration", "time", "elapsed", "second", "step"];

/// What the host knows of a step besides the call and its outcome.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Measures {
    /// Of the check that was run; without one it is the call itself
    pub verifier: Option<Digest>,
    /// Of this very run of the check: told twice, it is one reading
    pub verification: Option<Digest>,
    /// How many things fail by it
    pub failures: Option<f64>,
    /// Whether it is content
    pub success: Option<bool>,
    /// What the world looks like after the step
    pub state: Option<Digest>,
    /// Whether the step failed
    pub failed: bool,
    /// How, if somebody says
    pub error: String,
    /// Whether something stood there that could not be read
    pub unread: bool,
}

/// The numbers that have a meaning of their own, and the others.
#[derive(Default)]
struct Metrics<'j> {
    failures: Option<f64>,
    exit_code: Option<f64>,
    success: Option<f64>,
    score: Option<f64>,
    others: Vec<(Cow<'j, str>, Json<'j>)>,
}

impl Measures {
    /// Reads what a host tells. No bytes at all are nothing told.
    ///
    /// # Errors
    /// [`JsonError`] if it is no JSON; of any JSON, what can be read is taken.
    ///
    /// # Examples
    /// ```
    /// use microloop_core::progress::Measures;
    /// let told = Measures::read(br#"{"metrics": {"failures": 3, "mood": "fine"}}"#)?;
    /// assert_eq!((told.failures, told.unread), (Some(3.0), true));
    /// # Ok::<(), microloop_core::json::JsonError>(())
    /// ```
    pub fn read(told: &[u8]) -> Result<Self, JsonError> {
        let mut measures = Self::default();
        if told.is_empty() {
            return Ok(measures);
        }
        let (mut metrics, mut state) = (Metrics::default(), None);
        for (name, value) in measures.members(Json::parse(told)?) {
            match (name.as_ref(), value) {
                (_, Json::Null) => {}
                ("metrics", numbers) => metrics = measures.metrics(numbers),
                ("metadata", texts) => measures.metadata(texts),
                ("state", value) => state = Some(value),
                _ => measures.unread = true,
            }
        }
        measures.conclude(&metrics);
        measures.state = state_of(state, metrics.others);
        Ok(measures)
    }

    /// What came back, in the light of what is told. An exit code alone is no error: it says nothing to compare.
    pub(crate) fn outcome<'o>(&'o self, outcome: Outcome<'o>) -> Outcome<'o> {
        let said = if outcome.bytes().is_empty() { self.error.as_bytes() } else { outcome.bytes() };
        if self.failed && !said.is_empty() { Outcome::Error(said) } else { outcome }
    }

    fn members<'j>(&mut self, value: Json<'j>) -> Vec<(Cow<'j, str>, Json<'j>)> {
        let Json::Object(members) = value else {
            self.unread = true;
            return Vec::new();
        };
        members
    }

    fn metrics<'j>(&mut self, value: Json<'j>) -> Metrics<'j> {
        let mut metrics = Metrics::default();
        for (name, value) in self.members(value) {
            let Some(number) = number(&value) else {
                self.unread = true;
                continue;
            };
            match name.as_ref() {
                "failures" => metrics.failures = Some(number),
                "exit_code" => metrics.exit_code = Some(number),
                "success" => metrics.success = Some(number),
                "score" => metrics.score = Some(number),
                cost if is_cost(cost) => {}
                _ => metrics.others.push((name, Json::Number(Number::from_f64(number)))),
            }
        }
        metrics
    }

    fn metadata(&mut self, value: Json<'_>) {
        for (name, value) in self.members(value) {
            match (name.as_ref(), &value) {
                ("verifier", _) => self.verifier = digest(&value),
                ("verification_id", _) => self.verification = digest(&value),
                ("error", Json::Null | Json::Bool(false)) => {}
                ("error", _) => {
                    self.failed = true;
                    self.error = if value == Json::Bool(true) { String::new() } else { text(&value) };
                }
                _ => {}
            }
        }
    }

    fn conclude(&mut self, metrics: &Metrics<'_>) {
        let works = metrics.exit_code.map(|code| code == 0.0);
        self.failed |= works == Some(false);
        self.success = metrics.success.map(|success| success != 0.0).or(works.filter(|_| self.verifier.is_some()));
        self.failures = metrics.failures;
        if let (None, Some(score)) = (metrics.failures, metrics.score) {
            // More of it is better, and fewer failures are.
            self.failures = Some(-score);
            self.verifier = self.verifier.or_else(|| Some(Digest::of(b"score")));
        }
    }
}

fn number(value: &Json<'_>) -> Option<f64> {
    match value {
        Json::Number(number) => Some(number.as_f64()),
        Json::Bool(yes) => Some(f64::from(u8::from(*yes))),
        _ => None,
    }
}

fn is_cost(name: &str) -> bool {
    let lowered = name.to_ascii_lowercase();
    COSTS.iter().any(|word| lowered.contains(word))
}

/// The digest of a name, which may be any value; none of null.
fn digest(value: &Json<'_>) -> Option<Digest> {
    match value {
        Json::Null => None,
        Json::Text(name) => Some(Digest::of(name.as_bytes())),
        other => Some(Digest::of(text(other).as_bytes())),
    }
}

fn text(value: &Json<'_>) -> String {
    if let Json::Text(text) = value {
        return text.clone().into_owned();
    }
    let mut written = Vec::new();
    canonical::write(value, &mut written);
    String::from_utf8(written).unwrap_or_default()
}

/// Numbers that mean nothing to us belong to the state of the world.
fn state_of(state: Option<Json<'_>>, numbers: Vec<(Cow<'_, str>, Json<'_>)>) -> Option<Digest> {
    if state.is_none() && numbers.is_empty() {
        return None;
    }
    let mut written = Vec::new();
    canonical::write(&Json::Array(alloc::vec![state.unwrap_or(Json::Null), Json::object(numbers)]), &mut written);
    Some(Digest::of(&written))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]

    use super::*;

    fn read(told: &str) -> Measures {
        Measures::read(told.as_bytes()).unwrap()
    }

    #[test]
    fn what_is_told_is_read() {
        let told = read(r#"{"metadata": {"verification_id": 7, "verifier": "unit"}, "metrics": {"failures": 3}}"#);
        let wanted = Measures {
            verifier: Some(Digest::of(b"unit")),
            verification: Some(Digest::of(b"7")),
            failures: Some(3.0),
            ..Measures::default()
        };
        assert_eq!(told, wanted);
        assert_eq!(Measures::read(b"").unwrap(), Measures::default());
    }

    #[test]
    fn what_cannot_be_read_is_skipped_and_told() {
        for told in [
            "7",
            r#"{"metrics": 7}"#,
            r#"{"metrics": {"failures": null}}"#,
            r#"{"metrics": {"speed": "fast"}}"#,
            r#"{"metadata": []}"#,
            r#"{"stat": 1}"#,
        ] {
            assert_eq!(read(told), Measures { unread: true, ..Measures::default() }, "{told}");
        }
        assert!(Measures::read(b"{").is_err());
        assert_eq!(read(r#"{"metrics": null, "metadata": null, "state": null}"#), Measures::default());
    }

    #[test]
    fn an_exit_code_is_a_failure_and_with_a_verifier_a_reading() {
        let alone = read(r#"{"metrics": {"exit_code": 1}}"#);
        assert!(alone.failed && alone.success.is_none());
        let of_check = |code: &str| {
            read(&alloc::format!(r#"{{"metrics": {{"exit_code": {code}}}, "metadata": {{"verifier": "unit"}}}}"#))
        };
        assert_eq!(["1", "0", "0.0"].map(|code| of_check(code).success), [Some(false), Some(true), Some(true)]);
    }

    #[test]
    fn a_score_counts_downwards_unless_failures_are_counted() {
        let told = read(r#"{"metrics": {"score": 0.5}}"#);
        assert_eq!((told.failures, told.verifier), (Some(-0.5), Some(Digest::of(b"score"))));
        let told = read(r#"{"metrics": {"score": 0.5, "failures": true}}"#);
        assert_eq!((told.failures, told.verifier), (Some(1.0), None));
    }

    #[test]
    fn other_numbers_belong_to_the_state_unless_they_are_costs() {
        let state = |told: &str| read(told).state;
        assert_eq!(state(r#"{"metrics": {"total_Tokens": 3, "seconds": 2, "failures": 1}}"#), None);
        let rows = state(r#"{"metrics": {"rows": 3, "columns": 1}}"#);
        assert!(rows.is_some());
        assert_eq!(rows, state(r#"{"metrics": {"columns": true, "rows": 3.0}}"#));
        assert_ne!(rows, state(r#"{"state": "x", "metrics": {"columns": 1, "rows": 3}}"#));
    }

    #[test]
    fn a_state_is_the_same_in_whatever_order_it_is_written() {
        let state = |told: &str| read(told).state;
        assert_eq!(state(r#"{"state": {"a": 1, "b": [2]}}"#), state(r#"{"state": {"b": [2.0], "a": 1}}"#));
        assert_ne!(state(r#"{"state": {"a": 1}}"#), state(r#"{"state": {"a": 2}}"#));
    }

    #[test]
    fn a_step_that_failed_has_an_error_for_its_outcome() {
        let outcome = |told: &str, said: &'static str| {
            let measures = read(told);
            match measures.outcome(Outcome::Text(said.as_bytes())) {
                Outcome::Error(error) => Some(String::from_utf8_lossy(error).into_owned()),
                _ => None,
            }
        };
        assert_eq!(outcome(r#"{"metadata": {"error": "gone"}}"#, "").as_deref(), Some("gone"));
        assert_eq!(outcome(r#"{"metadata": {"error": "gone"}}"#, "not there").as_deref(), Some("not there"));
        assert_eq!(outcome(r#"{"metadata": {"error": ["x"]}}"#, "").as_deref(), Some(r#"["x"]"#));
        for told in [r#"{"metadata": {"error": true}}"#, r#"{"metrics": {"exit_code": 1}}"#, "{}"] {
            assert_eq!(outcome(told, ""), None, "{told}");
        }
    }
}
