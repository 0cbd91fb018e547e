//! Rows, their samples, and how they are shown.

use std::time::Duration;

use serde_json::{Value, json};

use crate::workload::BATCH;

/// One kind of work. `run` does a batch of it, proves it, and says how long the work alone took.
pub struct Row {
    pub name: &'static str,
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
        let batches: Vec<f64> = (0..BATCHES).map(|_| (self.run)().as_secs_f64() * 1e9 / f64::from(BATCH)).collect();
        if keep {
            self.samples.push(quantile(&batches, 50));
        }
    }
}

fn quantile(samples: &[f64], percent: usize) -> f64 {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[(sorted.len() - 1) * percent / 100]
}

pub fn text(rows: &[Row]) -> String {
    let mut lines = vec![format!("{:<30} {:>8} {:>15} {:>8}  work", "", "median", "p10 to p90", "target")];
    for row in rows {
        let at = |percent| quantile(&row.samples, percent);
        let spread = format!("{:.0} to {:.0}", at(10), at(90));
        let target = row.target.map_or_else(String::new, |target| format!("{target:.0}"));
        lines.push(format!("{:<30} {:>5.0} ns {spread:>15} {target:>8}  {}", row.name, at(50), row.work));
    }
    lines.join("\n")
}

pub fn json(rows: &[Row]) -> Value {
    let rows = rows.iter().map(|row| {
        let operations = row.samples.len() * BATCHES * BATCH as usize;
        json!({"name": row.name, "work": row.work, "target": row.target, "samples": row.samples, "operations": operations})
    });
    Value::Array(rows.collect())
}
