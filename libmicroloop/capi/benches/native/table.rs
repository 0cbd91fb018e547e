//! Rows, their samples, and how they are shown.

use std::time::Duration;

use serde_json::{Value, json};

use crate::workload::BATCH;

/// One kind of work. `run` does a batch of it, proves it, and says how long the work alone took.
pub struct Row {
    name: &'static str,
    work: &'static str,
    target: Option<f64>,
    run: Box<dyn FnMut() -> Duration>,
    samples: Vec<f64>,
}

/// Each sample is the median of a few batches, so that what the machine does besides does not show.
const BATCHES: usize = 15;

impl Row {
    pub fn new(name: &'static str, work: &'static str, run: impl FnMut() -> Duration + 'static) -> Self {
        Self { name, work, target: None, run: Box::new(run), samples: Vec::new() }
    }

    /// What the project promised, in nanoseconds.
    pub fn target(mut self, nanoseconds: f64) -> Self {
        self.target = Some(nanoseconds);
        self
    }

    pub fn sample(&mut self, keep: bool) {
        let batches: Vec<f64> = (0..BATCHES).map(|_| (self.run)().as_secs_f64() * 1e9 / BATCH as f64).collect();
        if keep {
            self.samples.push(quantile(&batches, 0.5));
        }
    }
}

fn quantile(samples: &[f64], part: f64) -> f64 {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len() - 1;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place in a short list")]
    let at = (last as f64 * part).round() as usize;
    sorted[at]
}

pub fn text(rows: &[Row]) -> String {
    let mut lines = vec![format!("{:<30} {:>8} {:>15} {:>8}  work", "", "median", "p10 to p90", "target")];
    for row in rows {
        let at = |part| quantile(&row.samples, part);
        let spread = format!("{:.0} to {:.0}", at(0.1), at(0.9));
        let target = row.target.map_or_else(String::new, |target| format!("{target:.0}"));
        lines.push(format!("{:<30} {:>5.0} ns {spread:>15} {target:>8}  {}", row.name, at(0.5), row.work));
    }
    lines.join("\n")
}

pub fn json(rows: &[Row]) -> Value {
    let rows = rows.iter().map(|row| {
        let operations = row.samples.len() * BATCHES * BATCH;
        json!({"name": row.name, "work": row.work, "target": row.target, "samples": row.samples, "operations": operations})
    });
    Value::Array(rows.collect())
}
