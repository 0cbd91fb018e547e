//! How long a failing call must wait before it is tried again.

use alloc::format;

use super::{PolicyError, document::BackoffDocument, strict::Section};

/// How long a failing call must wait before it is tried again.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Backoff {
    /// After the first failure
    pub base_ms: u64,
    /// By how much the wait grows with each failure, at least 1
    pub factor: f64,
    /// The longest wait
    pub max_ms: u64,
}

impl Backoff {
    /// The wait after so many failures in a row: `min(max, base · factor^(failures-1))`, and none without a failure.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "the product is positive, saturates, and is capped afterwards"
    )]
    pub fn wait_ms(&self, failures: u32) -> u64 {
        let Some(exponent) = failures.checked_sub(1) else {
            return 0;
        };
        let wait = self.base_ms as f64 * power(self.factor, exponent);
        (wait as u64).min(self.max_ms)
    }

    /// Reads the section; the errors begin with `retry.backoff:`.
    pub(super) fn read(Section(document): Section<BackoffDocument>) -> Result<Self, PolicyError> {
        let BackoffDocument { base, factor, max } = document;
        let what = if base.ms == 0 {
            "base is zero: write a duration above zero, or backoff: null".into()
        } else if !(1.0..=1e3).contains(&factor) {
            format!("factor {factor} is not from 1 to 1000: write one that lets the wait grow")
        } else if max.ms < base.ms {
            format!("max ({} ms) is below base ({} ms): write a max of at least the base", max.ms, base.ms)
        } else {
            return Ok(Self { base_ms: base.ms, factor, max_ms: max.ms });
        };
        Err(PolicyError::invalid("retry.backoff", what))
    }
}

/// By squaring, since `powf` needs std and a failure count may be any.
fn power(mut base: f64, mut exponent: u32) -> f64 {
    let mut product = 1.0;
    while exponent > 0 {
        if exponent & 1 == 1 {
            product *= base;
        }
        base *= base;
        exponent >>= 1;
    }
    product
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]

    use super::*;

    #[test]
    fn a_backoff_that_makes_no_sense_is_an_error() {
        for (backoff, word) in [
            (r#"{"base": 0, "factor": 2, "max": 9}"#, "base"),
            (r#"{"base": 1, "factor": 0.5, "max": 9}"#, "factor"),
            (r#"{"base": 5, "factor": 2, "max": 4}"#, "below base"),
        ] {
            let error = Backoff::read(serde_json::from_str(backoff).unwrap()).unwrap_err();
            assert!(error.message.starts_with("retry.backoff: ") && error.message.contains(word), "{error}");
        }
    }

    #[test]
    fn the_wait_doubles_with_each_failure_up_to_the_longest() {
        let backoff = Backoff { base_ms: 500, factor: 2.0, max_ms: 3_000 };
        let waits = [0, 1, 2, 3, 4, u32::MAX].map(|failures| backoff.wait_ms(failures));
        assert_eq!(waits, [0, 500, 1_000, 2_000, 3_000, 3_000]);
        let even = Backoff { factor: 1.0, ..backoff };
        assert_eq!(even.wait_ms(u32::MAX), 500);
    }
}
