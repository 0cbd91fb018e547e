//! The engine itself, as a Rust host uses it.

use std::{
    hint::black_box,
    sync::Arc,
    time::{Duration, Instant},
};

use microloop_core::{
    engine::{Checked, Context, Engine},
    outcome::Outcome,
    policy::{Policy, Tool},
    progress::{Measures, Status},
    verdict::{Action, Reason},
};

use crate::{
    table::Row,
    workload::{BATCH, POLICY, TOLD, arguments, batch, outcome, step},
};

struct Bench {
    engine: Engine,
    tool: Arc<Tool>,
    next: u64,
}

pub fn rows() -> Vec<Row> {
    let (mut distinct, mut repeat, mut record) = (Bench::new(), Bench::blocked(), Bench::new());
    let (mut observe, mut told) = (Bench::new(), Bench::new());
    vec![
        Row::new("Rust: check", "a distinct call of 120 bytes, digest included", move || distinct.distinct())
            .target(500.0),
        Row::new("Rust: reject a repeat", "the same bytes again, blocked", move || repeat.repeat()).target(150.0),
        Row::new("Rust: record", "an outcome of 200 bytes", move || record.record()),
        Row::new("Rust: observe", "one step of a healthy run, two short texts", move || observe.observe("")),
        Row::new("Rust: observe, told", "the same, with metrics and metadata", move || told.observe(TOLD)),
    ]
}

impl Bench {
    fn new() -> Self {
        let policy = Arc::new(Policy::from_json(POLICY.as_bytes()).expect("the policy of the benchmark"));
        let tool = Arc::new(policy.tool("query").expect("a name"));
        Self { engine: Engine::new(policy, None, None, 0), tool, next: 0 }
    }

    /// A session in which the first call is blocked by now.
    fn blocked() -> Self {
        let mut bench = Self::new();
        let text = arguments(0);
        for _ in 0..4 {
            let checked = bench.check(&text);
            bench.complete(checked, &outcome(0));
        }
        bench
    }

    fn check(&mut self, text: &str) -> Checked {
        self.engine.check(&self.tool, 0, black_box(text.as_bytes()), &Context::default(), 0)
    }

    fn complete(&mut self, checked: Checked, text: &str) {
        let outcome = Outcome::Text(black_box(text.as_bytes()));
        self.engine.record(checked.step, outcome, 0).expect("the step is under way");
    }

    fn distinct(&mut self) -> Duration {
        let (from, texts) = (self.next, batch(&mut self.next));
        let mut seen = Vec::with_capacity(BATCH as usize);
        let start = Instant::now();
        for text in &texts {
            seen.push(self.check(text));
        }
        let elapsed = start.elapsed();
        for (at, checked) in seen.into_iter().enumerate().rev() {
            let at = at as u64;
            assert_eq!(checked, Checked { step: from + at + 1, action: Action::Allow, noted: false });
            self.complete(checked, &outcome(from + at));
        }
        elapsed
    }

    fn repeat(&mut self) -> Duration {
        let text = arguments(0);
        let mut seen = Vec::with_capacity(BATCH as usize);
        let start = Instant::now();
        for _ in 0..BATCH {
            seen.push(self.check(&text));
        }
        let elapsed = start.elapsed();
        assert!(seen.iter().all(|checked| checked.action == Action::Block));
        let last = seen.last().and_then(|checked| self.engine.verdict(checked.step)).expect("a verdict");
        assert_eq!(last.reason, Reason::Repeat);
        elapsed
    }

    fn observe(&mut self, told: &str) -> Duration {
        let numbers = self.next..self.next + u64::from(BATCH);
        let steps: Vec<(String, String)> = numbers.map(step).collect();
        let start = Instant::now();
        for (action, output) in &steps {
            let (action, outcome) = (black_box(action.as_bytes()), Outcome::Text(black_box(output.as_bytes())));
            let measures = Measures::read(black_box(told.as_bytes())).expect("JSON");
            let seen = self.engine.observe(&self.tool, 0, action, outcome, &measures, 0);
            assert!(seen.status == Status::Healthy && !measures.unread);
        }
        let elapsed = start.elapsed();
        self.next += u64::from(BATCH);
        assert_eq!(self.engine.state().steps, self.next, "every step was taken");
        elapsed
    }

    fn record(&mut self) -> Duration {
        let (from, texts) = (self.next, batch(&mut self.next));
        let checked: Vec<Checked> = texts.iter().map(|text| self.check(text)).collect();
        let outcomes: Vec<String> = (from..self.next).map(outcome).collect();
        let start = Instant::now();
        for (checked, text) in checked.iter().zip(&outcomes).rev() {
            self.complete(*checked, text);
        }
        let elapsed = start.elapsed();
        let again = self.engine.record(checked[0].step, Outcome::Text(b""), 0);
        assert!(again.is_err(), "the steps are completed");
        elapsed
    }
}
