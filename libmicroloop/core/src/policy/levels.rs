//! From which count a detector speaks.

use alloc::format;

use super::{
    PolicyError,
    document::{LevelsDocument, Switch},
    strict::Section,
};

/// From which count a detector warns, blocks and halts. A level that is `None` never does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Levels {
    /// The call runs, and its result carries advice.
    pub warn: Option<u32>,
    /// The call is refused.
    pub block: Option<u32>,
    /// The run ends.
    pub halt: Option<u32>,
}

impl Levels {
    /// What a section of a document says otherwise: nothing, off, or level by level.
    pub(super) fn switch(&mut self, section: Switch<Section<LevelsDocument>>) {
        match section {
            None => {}
            Some(None) => *self = Self::default(),
            Some(Some(Section(document))) => self.amend(document),
        }
    }

    pub(super) fn amend(&mut self, document: LevelsDocument) {
        self.warn = document.warn.unwrap_or(self.warn);
        self.block = document.block.unwrap_or(self.block);
        self.halt = document.halt.unwrap_or(self.halt);
    }

    /// Whether every level can be reached, counting from `least`; the errors begin with the detector.
    pub(super) fn validate(self, detector: &str, least: u32) -> Result<(), PolicyError> {
        let levels = [("warn", self.warn), ("block", self.block), ("halt", self.halt)];
        let given = levels.into_iter().filter_map(|(name, level)| level.map(|level| (name, level)));
        let mut milder = None;
        for (name, level) in given {
            if level < least {
                return Err(too_low(detector, name, level, least));
            }
            match milder {
                Some((before, limit)) if limit > level => {
                    return Err(disordered(detector, (before, limit), (name, level)));
                }
                _ => milder = Some((name, level)),
            }
        }
        Ok(())
    }
}

fn too_low(detector: &str, level: &str, found: u32, least: u32) -> PolicyError {
    let why = if least == 1 {
        "it counts from 1"
    } else {
        "the count includes the call itself, so 1 would meet every first call"
    };
    let what = format!("{found} is too low ({why}): write {least} or more, or null to switch it off");
    PolicyError::invalid(level, what).within(detector)
}

fn disordered(detector: &str, (name, level): (&str, u32), (severer, limit): (&str, u32)) -> PolicyError {
    let what = format!(
        "{level} is above {severer} {limit} and would never be reached: write {limit} or less, raise {severer}, or set one of them to null"
    );
    PolicyError::invalid(name, what).within(detector)
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    fn refusal(levels: [Option<u32>; 3]) -> Option<alloc::string::String> {
        let [warn, block, halt] = levels;
        Levels { warn, block, halt }.validate("near", 2).err().map(|error| error.to_string())
    }

    #[test]
    fn levels_may_be_equal_or_absent_but_not_out_of_order() {
        for levels in [[None; 3], [Some(4); 3], [Some(2), None, Some(3)], [None, Some(2), Some(2)]] {
            assert_eq!(refusal(levels), None);
        }
        for levels in [[Some(4), None, Some(3)], [Some(4), Some(3), None], [None, Some(9), Some(8)]] {
            assert!(refusal(levels).is_some_and(|error| error.contains("would never be reached")), "{levels:?}");
        }
    }

    #[test]
    fn a_section_switches_off_amends_or_says_nothing() {
        let before = Levels { warn: Some(3), block: Some(5), halt: None };
        let section = |json| serde_json::from_str::<LevelsDocument>(json).map(Section).ok();
        let switched = |section| {
            let mut levels = before;
            levels.switch(section);
            levels
        };
        assert_eq!(switched(None), before);
        assert_eq!(switched(Some(None)), Levels::default());
        assert_eq!(
            switched(Some(section(r#"{"block": null, "halt": 9}"#))),
            Levels { block: None, halt: Some(9), ..before }
        );
    }
}
