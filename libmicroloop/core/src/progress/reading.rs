//! What a step has to say as a check of the run: as the host tells it, or as a test runner printed it.

use super::{Measures, Seen, runners, verifiers::Reading};
use crate::digest::Digest;

/// In what a reading is counted: figures of two kinds are never compared, though they come from one check.
#[derive(Debug, Clone, Copy)]
enum Unit {
    Told,
    Printed(runners::Runner),
    YesOrNo,
}

/// The reading of a step. What the host counts comes before what a runner printed, and that before a mere yes or no.
pub(super) fn of(seen: &Seen<'_>, measures: &Measures) -> Option<Reading> {
    let told = measures.failures.filter(|failures| failures.is_finite()).map(|failures| (Unit::Told, failures));
    let (unit, badness) = told.or_else(|| printed(seen.output)).or_else(|| yes_or_no(measures))?;
    let check = measures.verifier.unwrap_or(seen.call);
    Some(Reading { verifier: scoped(check, unit), badness, id: measures.verification })
}

fn printed(output: &[u8]) -> Option<(Unit, f64)> {
    let (runner, failed) = runners::failures(output)?;
    #[expect(clippy::cast_precision_loss, reason = "nobody has 2^53 failing tests")]
    Some((Unit::Printed(runner), failed as f64))
}

fn yes_or_no(measures: &Measures) -> Option<(Unit, f64)> {
    Some((Unit::YesOrNo, if measures.success? { 0.0 } else { 1.0 }))
}

fn scoped(check: Digest, unit: Unit) -> Digest {
    match unit {
        Unit::Told => check,
        Unit::Printed(runner) => check.marked(1 + runner as u8),
        Unit::YesOrNo => check.marked(u8::MAX),
    }
}
