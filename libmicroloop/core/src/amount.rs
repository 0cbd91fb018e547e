//! The unit in which a limit, and what was counted against it, is shown.

use alloc::format;
use core::fmt;

use serde::{Serialize, Serializer};

/// Billionths of a dollar in a dollar. Accounts hold whole numbers only: sums of floats drift.
pub(crate) const NANO: u64 = 1_000_000_000;

/// A limit, or what was counted against it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Amount {
    /// Calls, tokens, bytes, milliseconds
    Count(u64),
    /// Billionths of a dollar, shown as dollars
    NanoUsd(u64),
}

impl Serialize for Amount {
    #[expect(clippy::cast_precision_loss, reason = "sixteen digits are enough to look at")]
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Count(count) => serializer.serialize_u64(*count),
            Self::NanoUsd(nano) => serializer.serialize_f64(*nano as f64 / NANO as f64),
        }
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(count) => write!(f, "{count}"),
            Self::NanoUsd(nano) if nano % NANO == 0 => write!(f, "{}", nano / NANO),
            Self::NanoUsd(nano) => {
                let part = format!("{:09}", nano % NANO);
                write!(f, "{}.{}", nano / NANO, part.trim_end_matches('0'))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]

    use alloc::string::ToString;

    use super::*;

    #[test]
    fn money_is_shown_in_dollars_to_the_last_billionth() {
        let shown = [0, 1, 4_200_000, 500_000_000, 12_000_000_000].map(|nano| Amount::NanoUsd(nano).to_string());
        assert_eq!(shown, ["0", "0.000000001", "0.0042", "0.5", "12"]);
    }

    #[test]
    fn a_count_is_a_whole_number_in_json_and_money_is_not() {
        assert_eq!(serde_json::to_string(&Amount::Count(12)).unwrap(), "12");
        assert_eq!(serde_json::to_string(&Amount::NanoUsd(12_000_000_000)).unwrap(), "12.0");
        assert_eq!(serde_json::to_string(&Amount::NanoUsd(4_200_000)).unwrap(), "0.0042");
    }
}
