//! The same through the C ABI. Called by pointer, so that nothing is inlined that a C host would call.

use std::{
    hint::black_box,
    ptr::null,
    time::{Duration, Instant},
};

use microloop::{
    check::{self, MicroloopContext},
    noop, policy, session, tool,
};
use serde_json::{Value, json};

use crate::{
    table::Row,
    workload::{BATCH, POLICY, SCHEMA, arguments, batch, outcome},
};

type Check = unsafe extern "C" fn(u64, u32, *const u8, usize, *const MicroloopContext) -> i64;
type Record = unsafe extern "C" fn(u64, u64, u32, *const u8, usize) -> i64;

struct Bench {
    check: Check,
    record: Record,
    session: u64,
    tool: u32,
    next: u64,
}

pub fn rows() -> Vec<Row> {
    let plain = json!({"name": "query"});
    let schema: Value = serde_json::from_str(SCHEMA).expect("the schema of the benchmark");
    let (mut floor, mut distinct) = (Bench::new(&plain), Bench::new(&plain));
    let mut ruled = Bench::new(&json!({"name": "ruled", "schema": schema}));
    let (repeat, mut record) = (Bench::blocked(&plain), Bench::new(&plain));
    floor.check = black_box(noop::microloop_noop);
    vec![
        Row::new("C ABI: microloop_noop", "the call alone", move || floor.floor()),
        Row::new("C ABI: check", "a distinct call of 120 bytes, digest included", move || distinct.distinct())
            .target(500.0),
        Row::new("C ABI: check, rules, schema", "the same with ten rules and a JSON Schema", move || ruled.distinct()),
        Row::new("C ABI: reject a repeat", "the same bytes again, blocked", move || repeat.repeat()).target(150.0),
        Row::new("C ABI: record", "an outcome of 200 bytes", move || record.record()),
    ]
}

impl Bench {
    fn new(declaration: &Value) -> Self {
        let (mut policy, mut session, mut index) = (0, 0, 0);
        let declaration = declaration.to_string();
        // SAFETY: every text has as many bytes as is said, and every place takes a write.
        unsafe {
            assert_eq!(policy::microloop_policy_new(POLICY.as_ptr(), POLICY.len(), &raw mut policy), 0);
            let (text, len) = (declaration.as_ptr(), declaration.len());
            assert_eq!(tool::microloop_policy_tool(policy, text, len, &raw mut index), 0);
            assert_eq!(session::microloop_session_new(policy, null(), 0, &raw mut session), 0);
        }
        let check: Check = check::microloop_check;
        let record: Record = check::microloop_record;
        Self { check: black_box(check), record: black_box(record), session, tool: index, next: 0 }
    }

    /// A session in which the first call is blocked by now.
    fn blocked(declaration: &Value) -> Self {
        let bench = Self::new(declaration);
        let text = arguments(0);
        for _ in 0..4 {
            let packed = bench.check(&text);
            bench.complete(packed, &outcome(0));
        }
        bench
    }

    fn check(&self, text: &str) -> i64 {
        // SAFETY: the text has that many bytes; a null context is allowed.
        unsafe { (self.check)(self.session, self.tool, text.as_ptr(), text.len(), null()) }
    }

    fn complete(&self, packed: i64, text: &str) {
        let step = u64::try_from(packed >> 8).expect("a verdict");
        // SAFETY: the text has that many bytes.
        let status = unsafe { (self.record)(self.session, step, 0, text.as_ptr(), text.len()) };
        assert_eq!(status, 0, "the step is under way");
    }

    fn checked(&self, texts: &[String]) -> (Vec<i64>, Duration) {
        let mut seen = Vec::with_capacity(BATCH as usize);
        let start = Instant::now();
        for text in texts {
            seen.push(self.check(text));
        }
        (seen, start.elapsed())
    }

    fn floor(&mut self) -> Duration {
        let texts = batch(&mut self.next);
        let (seen, elapsed) = self.checked(&texts);
        assert!(seen.iter().all(|packed| *packed == 0));
        elapsed
    }

    fn distinct(&mut self) -> Duration {
        let (from, texts) = (self.next, batch(&mut self.next));
        let (seen, elapsed) = self.checked(&texts);
        for (n, packed) in (from..self.next).zip(seen).collect::<Vec<_>>().into_iter().rev() {
            assert_eq!(u64::try_from(packed), Ok((n + 1) << 8), "allowed, nothing noted, the next step");
            self.complete(packed, &outcome(n));
        }
        elapsed
    }

    fn repeat(&self) -> Duration {
        let (seen, elapsed) = self.checked(&vec![arguments(0); BATCH as usize]);
        assert!(seen.iter().all(|packed| packed & 0xff == 0x84), "blocked and noted");
        let step = u64::try_from(seen.last().expect("a batch") >> 8).expect("a verdict");
        let mut verdict = [0; 1024];
        // SAFETY: the buffer has that many bytes.
        let len = unsafe { check::microloop_verdict(self.session, step, verdict.as_mut_ptr(), verdict.len()) };
        let verdict: Value = serde_json::from_slice(&verdict[..usize::try_from(len).expect("a text")]).expect("JSON");
        assert_eq!(verdict["reason"], "loop.repeat");
        elapsed
    }

    fn record(&mut self) -> Duration {
        let (from, texts) = (self.next, batch(&mut self.next));
        let (seen, _) = self.checked(&texts);
        let outcomes: Vec<String> = (from..self.next).map(outcome).collect();
        let start = Instant::now();
        for (packed, text) in seen.iter().zip(&outcomes).rev() {
            self.complete(*packed, text);
        }
        start.elapsed()
    }
}
