//! Whether the run is getting anywhere, for whoever asks between two steps.

use alloc::{format, string::String, sync::Arc, vec::Vec};

use serde::Serialize;

use super::{Call, Context, Engine, Judged};
use crate::{
    outcome::Outcome,
    policy::{Reaction, Tool},
    progress::{Assessment, Measures, Movement, Readings, Status},
};

/// Why a run is judged as it is: which steps, and what they show.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Proof {
    /// A stable code
    pub reason: &'static str,
    /// The steps that show it
    pub steps: Vec<u64>,
    /// In words
    pub why: String,
}

/// Where a run stands, with the evidence.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// The step after which this was judged
    pub step: u64,
    /// Where the run stands
    pub status: Status,
    /// What the policy asks the host to do now
    pub intervention: Reaction,
    /// Whether a check of the run says that things are better than ever
    pub verified_progress: bool,
    /// What it rests on
    pub evidence: Vec<Proof>,
    /// For the model, where the run is not healthy
    pub feedback: String,
}

impl Engine {
    /// Takes a step that has run already, under a policy that only observes: it is not refused, charged or held to a rule any
    /// more, only compared. Arguments that are no JSON are taken for a text.
    pub fn observe(
        &mut self,
        tool: &Arc<Tool>,
        index: u32,
        arguments: &[u8],
        outcome: Outcome<'_>,
        measures: &Measures,
        now_ms: u64,
    ) -> &Assessment {
        let call = Call { tool, index, arguments, context: &Context::default(), now_ms };
        let checked = self.take(&call, |engine, call| match engine.see(call) {
            Some(seen) => Judged { charged: false, ..engine.detect_loops(call, seen) },
            None => Judged::default(),
        });
        // The step was checked just now and refused by nobody, so it is under way.
        let _ = self.record_measured(checked.step, outcome, measures, now_ms);
        self.progress.latest()
    }

    /// Where the run stands after its latest step.
    #[must_use]
    pub fn assessment(&self) -> &Assessment {
        self.progress.latest()
    }

    /// Where the run stood after a step, with the evidence; 0 is the latest step. `None` for a step that had nothing to
    /// tell, or that is too long ago.
    #[must_use]
    pub fn report(&self, step: u64) -> Option<Report> {
        let latest = self.progress.latest();
        let assessment = if step == 0 { latest } else { self.progress.of(step)? };
        let of_check = assessment.check.as_deref().map(proof);
        let evidence: Vec<Proof> = of_check.into_iter().chain(self.of_loops(assessment)).collect();
        Some(Report {
            step: assessment.step,
            status: assessment.status,
            intervention: assessment.intervention,
            verified_progress: assessment.verified,
            feedback: feedback(assessment.status, &evidence),
            evidence,
        })
    }

    fn of_loops(&self, assessment: &Assessment) -> Option<Proof> {
        let verdict = self.notes.verdict(assessment.suspect?)?;
        Some(Proof { reason: verdict.reason.code(), steps: verdict.evidence, why: verdict.feedback })
    }
}

fn proof(movement: &Movement) -> Proof {
    let (reason, readings, why) = match movement {
        Movement::Better(readings) => ("verifier.better", readings, better(readings)),
        Movement::Unmoved(readings) => ("verifier.unmoved", readings, unmoved(readings)),
        Movement::Worse(readings) => ("verifier.worse", readings, worse(readings)),
    };
    Proof { reason, steps: readings.steps.to_vec(), why }
}

fn better(Readings { now, best, .. }: &Readings) -> String {
    format!("the check is better than ever ({now} after {best})")
}

fn unmoved(Readings { times, best, .. }: &Readings) -> String {
    format!("the check has been no better than {best} for {times} readings")
}

fn worse(Readings { times, now, best, .. }: &Readings) -> String {
    format!("the check has been worse than its best for {times} readings ({now} after {best})")
}

fn feedback(status: Status, evidence: &[Proof]) -> String {
    let (headline, instead) = match status {
        Status::Healthy => return String::new(),
        Status::Warning => ("This run may be going in circles", "Check that the next step can bring something new."),
        Status::Stalled => ("This run is stalled", "Stop repeating it: say what you know, and choose another way."),
        Status::Regressing => {
            ("This run is getting worse", "Go back to the last state that was better, then go on from there.")
        }
    };
    let why: Vec<&str> = evidence.iter().map(|proof| proof.why.trim_end_matches('.')).collect();
    match why.as_slice() {
        [] => format!("{headline}. {instead}"),
        why => format!("{headline}: {}. {instead}", why.join("; ")),
    }
}
