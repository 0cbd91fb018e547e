//! Is the run still getting anywhere? Steps are reported when they have run, and the run is judged after each.

use alloc::format;

use microloop_core::{
    policy::Mode,
    progress::{Assessment, Measures},
};

use crate::{
    boundary::{bytes, fill, guarded},
    check::{json, outcome_of, unknown_step},
    document::wrong,
    session::{SESSIONS, Session},
    status::{Fault, MICROLOOP_NOT_JSON, MICROLOOP_OK, MICROLOOP_UNKNOWN_STEP},
};

/// The run is getting somewhere, or nothing says otherwise.
pub const MICROLOOP_RUN_HEALTHY: i32 = 0;
/// It may be going in circles.
pub const MICROLOOP_RUN_WARNING: i32 = 1;
/// It learns nothing new.
pub const MICROLOOP_RUN_STALLED: i32 = 2;
/// It has lost what it had.
pub const MICROLOOP_RUN_REGRESSING: i32 = 3;

/// Takes a step that has run already, and says where the run stands now. The session's policy must be in observe mode:
/// nothing can be refused any more.
///
/// `tool` and `args` are those of `microloop_check`, `kind` and `outcome` those of `microloop_record`. Arguments that are no
/// JSON are taken for a text. A value of 0 or more packs `step << 8 | verified << 7 | intervention << 4 | unread << 3 |
/// status`; take it apart with `MICROLOOP_STEP`, `MICROLOOP_VERIFIED`, `MICROLOOP_INTERVENTION` (0 observe, 1 replan, 2
/// stop), `MICROLOOP_UNREAD` and `MICROLOOP_RUN_STATUS`.
///
/// # Safety
/// `args` must be valid for reads of `len` bytes and `outcome` of `outcome_len`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn microloop_observe(
    session: u64,
    tool: u32,
    args: *const u8,
    len: usize,
    kind: u32,
    outcome: *const u8,
    outcome_len: usize,
) -> i64 {
    // SAFETY: the caller promises the rest, and null without a length is allowed.
    unsafe { microloop_observe_measured(session, tool, args, len, kind, outcome, outcome_len, core::ptr::null(), 0) }
}

/// `microloop_observe`, with what else the host knows of the step: `told` is NULL or a JSON object with any of
///
/// - `state`: what the world looks like after the step, any value;
/// - `metrics`: `failures` (how many things fail), `exit_code`, `success`, `score` (more is better); other numbers belong to
///   the state, unless their names tell of costs;
/// - `metadata`: `verifier` (the check that was run: its readings are compared with each other), `verification_id` (this very
///   run of it: told twice, it is one reading), `error` (the step failed, and how).
///
/// What cannot be read is left out, and `MICROLOOP_UNREAD` of the value is 1. What is no JSON at all is `MICROLOOP_NOT_JSON`,
/// and the step was not taken.
///
/// # Safety
/// `args` must be valid for reads of `len` bytes, `outcome` of `outcome_len` and `told` of `told_len`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn microloop_observe_measured(
    session: u64,
    tool: u32,
    args: *const u8,
    len: usize,
    kind: u32,
    outcome: *const u8,
    outcome_len: usize,
    told: *const u8,
    told_len: usize,
) -> i64 {
    guarded(|| {
        // SAFETY: the caller promises that `args` has `len` bytes.
        let arguments = unsafe { bytes("the arguments", args, len) }?;
        // SAFETY: the caller promises that `outcome` has `outcome_len` bytes.
        let outcome = outcome_of(kind, unsafe { bytes("the outcome", outcome, outcome_len) }?)?;
        // SAFETY: the caller promises that `told` has `told_len` bytes.
        let measures = read(unsafe { bytes("what is told", told, told_len) }?)?;
        SESSIONS.with(session, |session| {
            must_observe(session)?;
            session.observe(tool, arguments, outcome, &measures).map(|assessment| pack(assessment, measures.unread))
        })?
    })
}

fn must_observe(session: &Session) -> Result<(), Fault> {
    if session.engine.mode() == Mode::Observe {
        return Ok(());
    }
    Err(wrong("this session's policy is not in observe mode: check and record its calls, or give it one that is"))
}

fn read(told: &[u8]) -> Result<Measures, Fault> {
    Measures::read(told).map_err(|error| Fault::new(MICROLOOP_NOT_JSON, format!("what is told of the step: {error}")))
}

fn pack(assessment: &Assessment, unread: bool) -> i64 {
    let flags = i64::from(assessment.verified) << 7 | i64::from(unread) << 3;
    let low = flags | i64::from(assessment.intervention as u8) << 4 | i64::from(assessment.status as u8);
    i64::try_from(assessment.step << 8).unwrap_or(i64::MAX) & !0xff | low
}

/// `microloop_record`, with what else the host knows of the step: `told` is that of `microloop_observe_measured`.
///
/// # Safety
/// `outcome` must be valid for reads of `len` bytes, and `told` of `told_len`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn microloop_record_measured(
    session: u64,
    step: u64,
    kind: u32,
    outcome: *const u8,
    len: usize,
    told: *const u8,
    told_len: usize,
) -> i64 {
    guarded(|| {
        // SAFETY: the caller promises that `outcome` has `len` bytes.
        let outcome = outcome_of(kind, unsafe { bytes("the outcome", outcome, len) }?)?;
        // SAFETY: the caller promises that `told` has `told_len` bytes.
        let measures = read(unsafe { bytes("what is told", told, told_len) }?)?;
        let recorded = SESSIONS.with(session, |session| {
            let now_ms = session.clock.now_ms();
            session.engine.record_measured(step, outcome, &measures, now_ms)
        })?;
        recorded.map_err(unknown_step)?;
        Ok(i64::from(MICROLOOP_OK))
    })
}

/// Writes where the run stood after a step to `buf`, as JSON, and returns how many bytes that has: `step`, `status`,
/// `intervention`, `verified_progress`, `evidence` (each with `reason`, `steps` and `why`), `feedback` (text for the model).
/// Step 0 is the latest. Works for every session, whatever its policy's mode.
///
/// At most `cap` bytes are written; when more are returned, call again with a larger buffer. The last 64 steps that were
/// not healthy, or that a check called better than ever, are kept; any other step is `MICROLOOP_UNKNOWN_STEP`.
///
/// # Safety
/// `buf` must be valid for writes of `cap` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn microloop_progress(session: u64, step: u64, buf: *mut u8, cap: usize) -> i64 {
    guarded(|| {
        let report = SESSIONS.with(session, |session| session.engine.report(step))?;
        let report = json(&report.ok_or_else(|| nothing_to_tell(step))?)?;
        // SAFETY: the caller promises that `buf` takes `cap` bytes.
        unsafe { fill(buf, cap, report.as_bytes()) }
    })
}

#[cold]
fn nothing_to_tell(step: u64) -> Fault {
    let message = format!("there is nothing to tell of step {step}: it was healthy, or 64 later ones were not since");
    Fault::new(MICROLOOP_UNKNOWN_STEP, message)
}
