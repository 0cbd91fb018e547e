//! The limits of the loop detectors.

use serde::Deserialize;

use super::{
    Backoff, Levels, PolicyError,
    document::{LevelsDocument, LoopsDocument, RetryDocument, Switch},
    strict::{Section, Word},
};
use crate::pattern::Names;

/// When the counters of a session start anew.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// At each user turn
    #[default]
    Turn,
    /// Never
    Session,
}

/// The limits of all detectors. Without a policy that says otherwise they are all off.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Loops {
    /// When the counters start anew; the same for all tools
    pub scope: Scope,
    /// The same call, the same outcome
    pub repeat: Levels,
    /// The same for calls that change the world and succeeded
    pub write: Levels,
    /// A sequence of calls comes round again; counts from the third round
    pub cycle: Levels,
    /// The same error, whatever the arguments
    pub error: Levels,
    /// Reworded arguments, the same outcome
    pub near: Levels,
    /// New arguments, nothing new learned
    pub stall: Levels,
    /// Assistant turns that are empty or repeat the last one
    pub text: Levels,
    /// Calls whose arguments are invalid in the same way (no `warn`: they are always refused)
    pub invalid: Levels,
    /// The same call and outcome, whatever came in between (only `warn`)
    pub recur: Levels,
    /// Refusals in a row, whatever for (only `halt`)
    pub refused: Levels,
    /// The same call fails again
    pub retry: Levels,
    /// How long a failing call must wait
    pub backoff: Option<Backoff>,
    /// Names of arguments that look volatile
    pub learned: Names,
}

impl Loops {
    /// These limits with what the document says otherwise.
    pub(crate) fn amended(&self, document: &LoopsDocument) -> Result<Self, PolicyError> {
        refuse_misplaced(document)?;
        let mut loops = self.clone();
        loops.scope = document.scope.map_or(loops.scope, |Word(scope)| scope);
        loops.amend_levels(document);
        loops.amend_retry(document.retry)?;
        if let Some(learned) = &document.learned {
            loops.learned = learned.clone();
        }
        loops.validate()?;
        Ok(loops)
    }

    fn amend_levels(&mut self, document: &LoopsDocument) {
        self.repeat.switch(document.repeat);
        self.write.switch(document.write);
        self.cycle.switch(document.cycle);
        self.error.switch(document.error);
        self.near.switch(document.near);
        self.stall.switch(document.stall);
        self.text.switch(document.text);
        self.invalid.switch(document.invalid);
        self.recur.switch(document.recur);
        self.refused.switch(document.refused);
    }

    fn amend_retry(&mut self, section: Switch<Section<RetryDocument>>) -> Result<(), PolicyError> {
        match section {
            None => {}
            Some(None) => (self.retry, self.backoff) = (Levels::default(), None),
            Some(Some(Section(RetryDocument { warn, block, halt, backoff }))) => {
                self.retry.amend(LevelsDocument { warn, block, halt });
                if let Some(backoff) = backoff {
                    self.backoff = backoff.map(Backoff::read).transpose()?;
                }
            }
        }
        Ok(())
    }

    fn validate(&self) -> Result<(), PolicyError> {
        self.invalid.validate("invalid", 1)?;
        self.refused.validate("refused", 1)?;
        [
            ("repeat", self.repeat),
            ("write", self.write),
            ("cycle", self.cycle),
            ("error", self.error),
            ("near", self.near),
            ("stall", self.stall),
            ("text", self.text),
            ("recur", self.recur),
            ("retry", self.retry),
        ]
        .into_iter()
        .try_for_each(|(name, levels)| levels.validate(name, 2))
    }
}

/// Some detectors do not have all levels.
fn refuse_misplaced(document: &LoopsDocument) -> Result<(), PolicyError> {
    let has = |section: Switch<Section<LevelsDocument>>, levels: fn(LevelsDocument) -> [Switch<u32>; 2]| {
        section.flatten().is_some_and(|Section(document)| levels(document).iter().any(Option::is_some))
    };
    let misplaced = if has(document.invalid, |levels| [levels.warn, None]) {
        ("invalid", "it has no warn, since invalid arguments are refused from the first call on: use block and halt")
    } else if has(document.recur, |levels| [levels.block, levels.halt]) {
        ("recur", "it only warns: for block and halt use repeat")
    } else if has(document.stall, |levels| [levels.block, levels.halt]) {
        ("stall", "it only warns: new calls may yet find something; for block and halt use near or repeat")
    } else if has(document.refused, |levels| [levels.warn, levels.block]) {
        ("refused", "it only halts: what it counts has been refused already")
    } else {
        return Ok(());
    };
    Err(PolicyError::invalid(misplaced.0, misplaced.1))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]

    use alloc::string::{String, ToString};

    use super::*;

    fn amended(loops: &Loops, json: &str) -> Result<Loops, String> {
        let document = serde_json::from_str::<LoopsDocument>(json).unwrap();
        loops.amended(&document).map_err(|error| error.to_string())
    }

    fn levels(warn: u32, block: u32, halt: u32) -> Levels {
        Levels { warn: Some(warn), block: Some(block), halt: Some(halt) }
    }

    fn repeat_3_5_8() -> Loops {
        Loops { repeat: levels(3, 5, 8), ..Loops::default() }
    }

    #[test]
    fn an_absent_detector_is_off_and_an_absent_level_never_fires() {
        let loops = amended(&Loops::default(), r#"{"repeat": {"warn": 3}}"#).unwrap();
        assert_eq!(loops.repeat, Levels { warn: Some(3), ..Levels::default() });
        assert_eq!(loops.cycle, Levels::default());
        assert_eq!(loops.scope, Scope::Turn);
    }

    #[test]
    fn levels_are_overridden_one_by_one() {
        let loops = amended(&repeat_3_5_8(), r#"{"repeat": {"block": 6}}"#).unwrap();
        assert_eq!(loops.repeat, levels(3, 6, 8));
    }

    #[test]
    fn null_switches_off_a_level_or_a_detector() {
        let loops = amended(&repeat_3_5_8(), r#"{"repeat": {"halt": null}}"#).unwrap();
        assert_eq!(loops.repeat, Levels { warn: Some(3), block: Some(5), halt: None });
        let loops = amended(&repeat_3_5_8(), r#"{"repeat": null}"#).unwrap();
        assert_eq!(loops.repeat, Levels::default());
    }

    #[test]
    fn null_switches_off_the_backoff_or_all_of_retry() {
        let json = r#"{"retry": {"warn": 3, "backoff": {"base": "1s", "factor": 2, "max": "1m"}}}"#;
        let loops = amended(&Loops::default(), json).unwrap();
        assert_eq!(loops.backoff, Some(Backoff { base_ms: 1_000, factor: 2.0, max_ms: 60_000 }));
        let kept = amended(&loops, r#"{"retry": {"warn": 4}}"#).unwrap();
        assert_eq!((kept.retry.warn, kept.backoff), (Some(4), loops.backoff));
        let without = amended(&loops, r#"{"retry": {"backoff": null}}"#).unwrap();
        assert_eq!((without.retry.warn, without.backoff), (Some(3), None));
        let off = amended(&loops, r#"{"retry": null}"#).unwrap();
        assert_eq!((off.retry, off.backoff), (Levels::default(), None));
    }

    #[test]
    fn learned_names_are_replaced_as_a_whole() {
        let loops = amended(&Loops::default(), r#"{"learned": ["*_id", "ref"]}"#).unwrap();
        assert!(loops.learned.matches("request_id"));
        assert!(amended(&loops, r#"{"learned": []}"#).unwrap().learned.is_empty());
    }

    #[test]
    fn a_level_that_meets_the_first_call_is_an_error() {
        let error = amended(&Loops::default(), r#"{"error": {"block": 1}}"#).unwrap_err();
        assert!(error.starts_with("error.block: 1 is too low") && error.contains("first call"), "{error}");
        assert!(amended(&Loops::default(), r#"{"invalid": {"block": 1}}"#).is_ok());
        let error = amended(&Loops::default(), r#"{"invalid": {"block": 0}}"#).unwrap_err();
        assert!(error.contains("write 1 or more"), "{error}");
    }

    #[test]
    fn levels_out_of_order_are_an_error_also_after_an_override() {
        let error = amended(&repeat_3_5_8(), r#"{"repeat": {"block": 9}}"#).unwrap_err();
        assert!(error.starts_with("repeat.block: 9 is above halt 8"), "{error}");
        let error = amended(&Loops::default(), r#"{"near": {"warn": 5, "halt": 4}}"#).unwrap_err();
        assert!(error.starts_with("near.warn: 5 is above halt 4"), "{error}");
        assert!(amended(&Loops::default(), r#"{"near": {"warn": 4, "block": 4, "halt": 4}}"#).is_ok());
    }

    #[test]
    fn a_level_that_cannot_be_is_an_error() {
        assert!(
            amended(&Loops::default(), r#"{"invalid": {"warn": 2}}"#)
                .unwrap_err()
                .starts_with("invalid: it has no warn")
        );
        assert!(
            amended(&Loops::default(), r#"{"recur": {"block": 9}}"#).unwrap_err().starts_with("recur: it only warns")
        );
        assert!(
            amended(&Loops::default(), r#"{"refused": {"warn": 9}}"#)
                .unwrap_err()
                .starts_with("refused: it only halts")
        );
        let allowed = r#"{"invalid": {"block": 3}, "recur": {"warn": 8}, "refused": {"halt": 12}}"#;
        assert_eq!(amended(&Loops::default(), allowed).unwrap().refused.halt, Some(12));
    }
}
