//! Is the run still getting anywhere? Steps are reported when they have run, and the run is judged after each.

use alloc::format;

use microloop_core::{
    policy::Mode,
    progress::{Assessment, Measures},
};

use crate::{
    boundary::{bytes, fill, guarded, optional},
    check::{json, outcome_of, unknown_step},
    document::wrong,
    session::{SESSIONS, Session},
    status::{Fault, MICROLOOP_OK, MICROLOOP_UNKNOWN_STEP},
};

/// The run is getting somewhere, or nothing says otherwise.
pub const MICROLOOP_RUN_HEALTHY: i32 = 0;
/// It may be going in circles.
pub const MICROLOOP_RUN_WARNING: i32 = 1;
/// It learns nothing new.
pub const MICROLOOP_RUN_STALLED: i32 = 2;
/// It has lost what it had.
pub const MICROLOOP_RUN_REGRESSING: i32 = 3;

/// What the host knows of a step besides its call and outcome. NULL with length 0 for what it does not know.
#[derive(Debug)]
#[repr(C)]
pub struct MicroloopMeasures {
    /// The name of the check that was run: readings are compared with those of the same name. Without one, the call is.
    pub verifier: *const u8,
    /// How many bytes it has
    pub verifier_len: usize,
    /// The id of this very run of the check: told twice, it is one reading.
    pub verification: *const u8,
    /// How many bytes it has
    pub verification_len: usize,
    /// What the world looks like after the step, in any form
    pub state: *const u8,
    /// How many bytes it has
    pub state_len: usize,
    /// How many things fail by the check; NaN if it does not say
    pub failures: f64,
    /// Whether the check is content: 1 yes, 0 no, -1 if it does not say
    pub success: i32,
}

/// Takes a step that has run already, and says where the run stands now. The session's policy must be in observe mode:
/// nothing can be refused any more.
///
/// `tool` and `args` are those of `microloop_check`, `kind` and `outcome` those of `microloop_record`. Arguments that are no
/// JSON are taken for a text. A value of 0 or more packs `step << 8 | verified << 7 | intervention << 4 | status`; take
/// it apart with `MICROLOOP_STEP`, `MICROLOOP_VERIFIED`, `MICROLOOP_INTERVENTION` (0 observe, 1 replan, 2 stop) and
/// `MICROLOOP_RUN_STATUS`.
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
    // SAFETY: the caller promises the rest, and null is allowed.
    unsafe { microloop_observe_measured(session, tool, args, len, kind, outcome, outcome_len, core::ptr::null()) }
}

/// `microloop_observe`, with what the host knows of the step besides its call and outcome; `measures` may be NULL.
///
/// # Safety
/// `args` must be valid for reads of `len` bytes and `outcome` of `outcome_len`; so must `measures` and what it points to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn microloop_observe_measured(
    session: u64,
    tool: u32,
    args: *const u8,
    len: usize,
    kind: u32,
    outcome: *const u8,
    outcome_len: usize,
    measures: *const MicroloopMeasures,
) -> i64 {
    guarded(|| {
        // SAFETY: the caller promises that `args` has `len` bytes.
        let arguments = unsafe { bytes("the arguments", args, len) }?;
        // SAFETY: the caller promises that `outcome` has `outcome_len` bytes.
        let outcome = outcome_of(kind, unsafe { bytes("the outcome", outcome, outcome_len) }?)?;
        // SAFETY: the caller promises that `measures` is null or can be read, with what it points to.
        let measures = unsafe { read_measures(measures) }?;
        SESSIONS.with(session, |session| {
            must_observe(session)?;
            session.observe(tool, arguments, outcome, &measures).map(pack)
        })?
    })
}

fn must_observe(session: &Session) -> Result<(), Fault> {
    if session.engine.mode() == Mode::Observe {
        return Ok(());
    }
    Err(wrong("this session's policy is not in observe mode: check and record its calls, or give it one that is"))
}

/// # Safety
/// If `measures` is not null, it and what it points to must be valid for reads for `'a`.
unsafe fn read_measures<'a>(measures: *const MicroloopMeasures) -> Result<Measures<'a>, Fault> {
    // SAFETY: the caller promises that it can be read.
    let measures = unsafe { optional("the measures", measures) }?;
    let Some(measures) = measures else {
        return Ok(Measures::default());
    };
    // SAFETY: the caller promises that each text has as many bytes as is said.
    let given = |what: &str, text: *const u8, len: usize| unsafe { bytes(what, text, len) }.map(non_empty);
    Ok(Measures {
        verifier: given("the measures' verifier", measures.verifier, measures.verifier_len)?,
        verification: given("the measures' verification", measures.verification, measures.verification_len)?,
        state: given("the measures' state", measures.state, measures.state_len)?,
        failures: (!measures.failures.is_nan()).then_some(measures.failures),
        success: (measures.success >= 0).then_some(measures.success > 0),
    })
}

fn non_empty(text: &[u8]) -> Option<&[u8]> {
    (!text.is_empty()).then_some(text)
}

fn pack(assessment: &Assessment) -> i64 {
    let verified = i64::from(assessment.verified) << 7;
    let low = verified | i64::from(assessment.intervention as u8) << 4 | i64::from(assessment.status as u8);
    i64::try_from(assessment.step << 8).unwrap_or(i64::MAX) & !0xff | low
}

/// `microloop_record`, with what the host knows of the step besides its outcome; `measures` may be NULL.
///
/// # Safety
/// `outcome` must be valid for reads of `len` bytes; so must `measures` and what it points to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn microloop_record_measured(
    session: u64,
    step: u64,
    kind: u32,
    outcome: *const u8,
    len: usize,
    measures: *const MicroloopMeasures,
) -> i64 {
    guarded(|| {
        // SAFETY: the caller promises that `outcome` has `len` bytes.
        let outcome = outcome_of(kind, unsafe { bytes("the outcome", outcome, len) }?)?;
        // SAFETY: the caller promises that `measures` is null or can be read, with what it points to.
        let measures = unsafe { read_measures(measures) }?;
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
