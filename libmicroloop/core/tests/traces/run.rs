//! Plays a trace through an engine.

use std::{collections::HashMap, sync::Arc};

use microloop_core::{
    budget::Spending,
    engine::{Checked, Context, Engine, Speaker},
    outcome::Outcome,
    policy::{Policy, Tool},
    progress::Status,
    verdict::Action,
};
use serde_json::Value;

use crate::shape::Shape;

/// What was said about one step.
#[derive(Debug, PartialEq)]
pub struct Said {
    pub action: Action,
    pub reason: &'static str,
    pub status: Status,
    pub feedback: String,
}

/// Whether the session stays where it is, or goes to another process whenever it can.
#[derive(Clone, Copy, PartialEq)]
pub enum Process {
    Same,
    Another,
}

struct Run<'t> {
    trace: &'t Value,
    policy: Arc<Policy>,
    engine: Engine,
    tools: HashMap<String, (u32, Arc<Tool>)>,
    now_ms: u64,
    process: Process,
}

/// The verdict on each step; none for a user turn. `policy` is a resolved document.
pub fn play(trace: &Value, policy: &[u8], process: Process) -> Vec<Option<Said>> {
    let policy = Arc::new(Policy::from_json(policy).expect("a resolved policy"));
    let engine = Engine::new(Arc::clone(&policy), trace["role"].as_str(), None, 0);
    let mut run = Run { trace, policy, engine, tools: HashMap::new(), now_ms: 0, process };
    trace["steps"].as_array().expect("steps").iter().map(|step| run.step(step)).collect()
}

impl Run<'_> {
    fn step(&mut self, step: &Value) -> Option<Said> {
        self.hand_over();
        self.now_ms = step["at"].as_u64().unwrap_or(self.now_ms);
        if let Some(text) = step["user"].as_str() {
            self.engine.turn(Speaker::User, text.as_bytes());
            return None;
        }
        if let Some(text) = step["assistant"].as_str() {
            let checked = self.engine.turn(Speaker::Assistant, text.as_bytes());
            return Some(self.said(checked));
        }
        if let Some(spent) = step.get("spend") {
            let checked = self.engine.spend(spending(spent));
            return Some(self.said(checked));
        }
        let before = self.engine.state().steps;
        let checked = self.check(step);
        self.hand_over();
        if checked.action.runs() && checked.step > before {
            self.record(checked.step, step);
        }
        Some(self.said(checked))
    }

    fn hand_over(&mut self) {
        if self.process == Process::Same {
            return;
        }
        let mut tools: Vec<&(u32, Arc<Tool>)> = self.tools.values().collect();
        tools.sort_by_key(|(index, _)| *index);
        let tools: Vec<_> = tools.into_iter().map(|(_, tool)| Arc::clone(tool)).collect();
        let saved = self.engine.save().expect("a session without a parent");
        self.engine = Engine::restore(Arc::clone(&self.policy), &saved, &tools).expect("what was just saved");
    }

    fn check(&mut self, step: &Value) -> Checked {
        let (index, tool) = self.tool(step["tool"].as_str().expect("a step has a tool, a user or an assistant"));
        let arguments = text_of(&step["args"]);
        let context = Context {
            call_id: step["call_id"].as_str().map(str::as_bytes),
            batch: step["batch"].as_str().map(str::as_bytes),
        };
        self.engine.check(&tool, index, arguments.as_bytes(), &context, self.now_ms)
    }

    fn tool(&mut self, name: &str) -> (u32, Arc<Tool>) {
        let next = u32::try_from(self.tools.len()).expect("few tools");
        let schema = self.trace["tools"][name].get("schema").map(Shape::boxed);
        let (policy, tools) = (&self.policy, &mut self.tools);
        let entry = tools.entry(name.to_string()).or_insert_with(|| {
            let tool = policy.tool(name).expect("a tool with a name");
            (next, Arc::new(if schema.is_some() { tool.with_schema(schema) } else { tool }))
        });
        (entry.0, Arc::clone(&entry.1))
    }

    fn record(&mut self, step: u64, said: &Value) {
        let error = said["error"].as_str();
        let result = text_of(&said["result"]);
        let outcome = match (error, &said["result"]) {
            (Some(error), _) => Outcome::Error(error.as_bytes()),
            (None, Value::String(_)) => Outcome::Text(result.as_bytes()),
            (None, _) => Outcome::Json(result.as_bytes()),
        };
        self.engine.record(step, outcome, self.now_ms).expect("the step is under way");
    }

    fn said(&self, checked: Checked) -> Said {
        let verdict = if checked.noted { self.engine.verdict(checked.step) } else { None };
        let (reason, status) =
            (verdict.as_ref().map_or("none", |verdict| verdict.reason.code()), self.engine.assessment().status);
        let feedback = verdict.map_or_else(String::new, |verdict| verdict.feedback);
        Said { action: checked.action, reason, status, feedback }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "traces spend little, and never less than 0"
)]
fn spending(spent: &Value) -> Spending {
    let usd = spent["usd"].as_f64().unwrap_or_default();
    Spending { tokens: spent["tokens"].as_u64().unwrap_or_default(), nano_usd: (usd * 1e9).round() as u64 }
}

/// A text goes as it is, everything else as JSON.
fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), String::from)
}
