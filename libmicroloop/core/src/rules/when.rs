//! When a rule holds: always, or only while the run gets nowhere.

use core::fmt;

use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};

use crate::progress::Status;

/// The statuses of a run in which a rule holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct When(u8);

impl When {
    pub(crate) fn holds(self, status: Status) -> bool {
        self.0 & bit(status) != 0
    }
}

fn bit(status: Status) -> u8 {
    1 << status as u8
}

/// A healthy run needs no rule of its own.
const STATUSES: [(&str, Status); 3] =
    [("warning", Status::Warning), ("stalled", Status::Stalled), ("regressing", Status::Regressing)];
const NAMES: &[&str] = &["warning", "stalled", "regressing"];

impl<'de> Deserialize<'de> for When {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(WhenVisitor)
    }
}

struct WhenVisitor;

impl<'de> Visitor<'de> for WhenVisitor {
    type Value = When;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a status of the run, or a list of them")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<When, E> {
        let known = STATUSES.iter().find(|(known, _)| *known == name);
        known.map(|(_, status)| When(bit(*status))).ok_or_else(|| E::unknown_variant(name, NAMES))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<When, A::Error> {
        let mut when = None;
        while let Some(When(more)) = access.next_element()? {
            when = Some(When(when.map_or(0, |When(bits)| bits) | more));
        }
        when.ok_or_else(|| A::Error::custom("the list is empty and the rule would never hold: add a status"))
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]

    use alloc::string::{String, ToString};

    use super::*;

    fn read(json: &str) -> Result<When, String> {
        serde_json::from_str(json).map_err(|error| error.to_string())
    }

    #[test]
    fn one_status_or_several() {
        let one = read("\"stalled\"").unwrap();
        assert!(one.holds(Status::Stalled) && !one.holds(Status::Warning) && !one.holds(Status::Regressing));
        let both = read(r#"["stalled", "regressing"]"#).unwrap();
        assert!(both.holds(Status::Stalled) && both.holds(Status::Regressing) && !both.holds(Status::Healthy));
    }

    #[test]
    fn anything_else_is_an_error() {
        assert!(read("\"healthy\"").unwrap_err().contains("expected one of `warning`, `stalled`, `regressing`"));
        assert!(read("[]").unwrap_err().contains("the list is empty"));
        assert!(read("7").unwrap_err().contains("expected a status of the run"));
    }
}
