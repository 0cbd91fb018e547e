//! Sessions: one agent run each, the unit of all state.

use alloc::{string::String, sync::Arc};

use microloop_core::{
    engine::{Checked, Context, Engine, UnknownStep},
    json::{Json, Number},
    outcome::Outcome,
    progress::{Assessment, Measures},
    verdict::Amount,
};
use serde::Serialize;

use crate::{
    boundary::{Out, bytes, fill, guarded},
    clock::Clock,
    document::{self, wrong},
    handle::Kind,
    met_tools::MetTools,
    policy::{self, PolicyEntry},
    registry::Registry,
    status::{Fault, MICROLOOP_OK},
};

pub(crate) static SESSIONS: Registry<Session> = Registry::new(Kind::Session);

#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) engine: Engine,
    pub(crate) clock: Clock,
    pub(crate) policy: Arc<PolicyEntry>,
    pub(crate) tools: MetTools,
}

impl Session {
    fn new(policy: Arc<PolicyEntry>, role: Option<&str>, parent: Option<&Self>) -> Self {
        let clock = parent.map_or(Clock::SYSTEM, |parent| parent.clock);
        let parent = parent.map(|parent| &parent.engine);
        let engine = Engine::new(Arc::clone(policy.rules()), role, parent, clock.now_ms());
        Self { engine, clock, policy, tools: MetTools::default() }
    }

    pub(crate) fn check(&mut self, index: u32, arguments: &[u8], context: &Context<'_>) -> Result<Checked, Fault> {
        let (number, tool) = self.tools.meet(index, self.policy.tools())?;
        Ok(self.engine.check(tool, number, arguments, context, self.clock.now_ms()))
    }

    pub(crate) fn check_named(
        &mut self,
        name: &str,
        arguments: &[u8],
        context: &Context<'_>,
    ) -> Result<Checked, Fault> {
        let (number, tool) = self.tools.meet_named(name, &self.policy)?;
        Ok(self.engine.check(&tool, number, arguments, context, self.clock.now_ms()))
    }

    pub(crate) fn refuse(&mut self, step: u64) -> Result<Checked, UnknownStep> {
        self.engine.host_refuses(step, |number| self.tools.of(number))
    }

    pub(crate) fn observe(
        &mut self,
        index: u32,
        arguments: &[u8],
        outcome: Outcome<'_>,
        measures: &Measures,
    ) -> Result<&Assessment, Fault> {
        let (number, tool) = self.tools.meet(index, self.policy.tools())?;
        Ok(self.engine.observe(tool, number, arguments, outcome, measures, self.clock.now_ms()))
    }
}

/// Begins a session: one agent run, whose steps no other run ever sees. `*session` is its handle, or 0 on failure.
///
/// `options` is NULL or a JSON object: `role` (text) for a policy with roles, `parent` (a session handle) for a sub-agent,
/// whose calls and spending are charged to all its ancestors as well and whose clock starts as the parent's.
///
/// The session is yours; end it with `microloop_session_free`. It keeps working when the policy is freed before it. It may
/// be used from any thread; calls on one session wait for each other, calls on different sessions never do.
///
/// # Safety
/// `options` must be valid for reads of `len` bytes and `session` for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn microloop_session_new(policy: u64, options: *const u8, len: usize, session: *mut u64) -> i32 {
    guarded(|| {
        // SAFETY: the caller promises that `session` takes a write.
        let out = unsafe { Out::new("the place for the session", session) }?;
        // SAFETY: the caller promises that `options` has `len` bytes.
        let options = unsafe { bytes("the session options", options, len) }?;
        out.set(SESSIONS.insert(open(policy, options)?)?);
        Ok(MICROLOOP_OK)
    })
}

fn open(policy: u64, options: &[u8]) -> Result<Session, Fault> {
    const WHAT: &str = "the session options";
    let policy = policy::entry(policy)?;
    if options.is_empty() {
        return Ok(Session::new(policy, None, None));
    }
    let options = document::read(WHAT, options, &["role", "parent"])?;
    let role = document::text(WHAT, &options, "role")?;
    match options.get("parent") {
        None | Some(Json::Null) => Ok(Session::new(policy, role, None)),
        Some(Json::Number(Number::Unsigned(parent))) => {
            SESSIONS.with(*parent, |parent| Session::new(policy, role, Some(parent)))
        }
        Some(_) => Err(wrong("the session options: parent is not a session handle (a whole number)")),
    }
}

/// Ends a session and frees what it holds. Its handle is stale from here on, and so it stays.
#[unsafe(no_mangle)]
pub extern "C" fn microloop_session_free(session: u64) -> i32 {
    guarded(|| SESSIONS.remove(session).map(|_| MICROLOOP_OK))
}

/// Says what time it is for this session, in milliseconds from any origin. From now on the host keeps this session's
/// clock; it never goes back, an earlier time is ignored.
///
/// Without this call the system's monotonic clock is used, except in a build without std, where the time stands at 0.
#[unsafe(no_mangle)]
pub extern "C" fn microloop_session_time(session: u64, now_ms: u64) -> i32 {
    guarded(|| SESSIONS.with(session, |session| session.clock.set(now_ms)).map(|()| MICROLOOP_OK))
}

#[derive(Serialize)]
struct Standing<'s> {
    steps: u64,
    epoch: u32,
    halted: Option<&'s str>,
    calls: u64,
    tokens: u64,
    usd: Amount,
    refusals: u64,
    role: Option<&'s str>,
}

impl Session {
    fn standing(&self) -> Result<String, Fault> {
        let state = self.engine.state();
        let standing = Standing {
            steps: state.steps,
            epoch: state.epoch,
            halted: state.halted,
            calls: state.calls,
            tokens: state.spending.tokens,
            usd: Amount::NanoUsd(state.spending.nano_usd),
            refusals: state.refusals,
            role: state.role,
        };
        crate::check::json(&standing)
    }
}

/// Writes where a session stands to `buf`, as JSON, and returns how many bytes that has: `steps`, `epoch`, `halted` (a
/// reason code or null), `calls` (charged to the budget), `tokens` and `usd` (spent by the model), `refusals`, `role`.
///
/// At most `cap` bytes are written; when more are returned, call again with a larger buffer.
///
/// # Safety
/// `buf` must be valid for writes of `cap` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn microloop_session_state(session: u64, buf: *mut u8, cap: usize) -> i64 {
    guarded(|| {
        let standing = SESSIONS.with(session, |session| session.standing())??;
        // SAFETY: the caller promises that `buf` takes `cap` bytes.
        unsafe { fill(buf, cap, standing.as_bytes()) }
    })
}
