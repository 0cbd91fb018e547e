//! The way of a call across the boundary: check, record, cancel, turn, spend, verdict.

use alloc::{format, string::String};

use microloop_core::{
    budget::Spending,
    engine::{Checked, Context, Speaker, UnknownStep},
    outcome::Outcome,
};
use serde::Serialize;

use crate::{
    boundary::{bytes, fill, guarded, optional, text},
    document::wrong,
    session::SESSIONS,
    status::{Fault, MICROLOOP_OK, MICROLOOP_PANIC, MICROLOOP_UNKNOWN_STEP},
};

/// The call runs.
pub const MICROLOOP_ACTION_ALLOW: i32 = 0;
/// The call runs; show the verdict's feedback to the model together with the result.
pub const MICROLOOP_ACTION_WARN: i32 = 1;
/// Reserved: the call runs with changed arguments.
pub const MICROLOOP_ACTION_TRANSFORM: i32 = 2;
/// A person or the host decides. If the answer is no, say so with `microloop_cancel`.
pub const MICROLOOP_ACTION_ASK: i32 = 3;
/// The call must not run; give the model the verdict's feedback in place of a result.
pub const MICROLOOP_ACTION_BLOCK: i32 = 4;
/// The call must not run, and the run must end.
pub const MICROLOOP_ACTION_HALT: i32 = 5;

/// The outcome is a result as text.
pub const MICROLOOP_OUTCOME_TEXT: u32 = 0;
/// The outcome is a result as JSON.
pub const MICROLOOP_OUTCOME_JSON: u32 = 1;
/// The outcome is an error, as text.
pub const MICROLOOP_OUTCOME_ERROR: u32 = 2;

/// A person speaks.
pub const MICROLOOP_SPEAKER_USER: u32 = 0;
/// The model speaks, without calling a tool.
pub const MICROLOOP_SPEAKER_ASSISTANT: u32 = 1;

/// What the host knows of a call besides its tool and arguments. NULL with length 0 for what it does not know.
#[derive(Debug)]
#[repr(C)]
pub struct MicroloopContext {
    /// The framework's id of the call. The same id again, with the same call, is the same step with the same verdict.
    pub call_id: *const u8,
    /// How many bytes it has
    pub call_id_len: usize,
    /// What the calls of one model turn have in common. An identical call in one batch is a duplicate.
    pub batch: *const u8,
    /// How many bytes it has
    pub batch_len: usize,
}

/// Says whether a call may run: the heart of the matter.
///
/// `args` is the JSON text of the arguments, `tool` what `microloop_policy_tool` gave, `context` may be NULL. A value of 0
/// or more packs `step << 8 | noted << 7 | action`; take it apart with `MICROLOOP_STEP`, `MICROLOOP_NOTED` and
/// `MICROLOOP_ACTION`. Noted means that `microloop_verdict` has more to say about this step.
///
/// Arguments that are no JSON, too long, or against the schema get a verdict with the action block. A negative value is a
/// status: the call was not judged, and the policy's `on_error` says what that means.
///
/// When the call has run, report it with `microloop_record`.
///
/// # Safety
/// `args` must be valid for reads of `len` bytes; so must `context` and what it points to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn microloop_check(
    session: u64,
    tool: u32,
    args: *const u8,
    len: usize,
    context: *const MicroloopContext,
) -> i64 {
    guarded(|| {
        // SAFETY: the caller promises that `args` has `len` bytes.
        let arguments = unsafe { bytes("the arguments", args, len) }?;
        // SAFETY: the caller promises that `context` is null or can be read, with what it points to.
        let context = unsafe { read_context(context) }?;
        let checked = SESSIONS.with(session, |session| session.check(tool, arguments, &context))??;
        Ok(pack(checked))
    })
}

/// `microloop_check` for a tool that nobody declared, known by its name alone: what a model asks for that the host does not
/// have, or a host that declares no tools. It takes none of the policy's places for tools.
///
/// All that the policy says about tools of that name holds. A session tells 256 such names apart in all; what is counted
/// by tool (errors in a row, a `limit`) is counted for all further ones, and for names above 256 bytes, together. Loops are
/// found all the same, for calls are told apart by name and arguments. A tool that was declared with a schema must be
/// checked by its index: here its schema is not known.
///
/// # Safety
/// `name` must be valid for reads of `name_len` bytes and `args` of `len`; so must `context` and what it points to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn microloop_check_named(
    session: u64,
    name: *const u8,
    name_len: usize,
    args: *const u8,
    len: usize,
    context: *const MicroloopContext,
) -> i64 {
    guarded(|| {
        // SAFETY: the caller promises that `name` has `name_len` bytes.
        let name = unsafe { text("the tool's name", name, name_len) }?;
        // SAFETY: the caller promises that `args` has `len` bytes.
        let arguments = unsafe { bytes("the arguments", args, len) }?;
        // SAFETY: the caller promises that `context` is null or can be read, with what it points to.
        let context = unsafe { read_context(context) }?;
        if name.is_empty() {
            return Err(wrong("the tool's name is empty: pass the name that the model calls it by"));
        }
        let checked = SESSIONS.with(session, |session| session.check_named(name, arguments, &context))??;
        Ok(pack(checked))
    })
}

/// # Safety
/// If `context` is not null, it and what it points to must be valid for reads for `'a`.
unsafe fn read_context<'a>(context: *const MicroloopContext) -> Result<Context<'a>, Fault> {
    // SAFETY: the caller promises that it can be read.
    let context = unsafe { optional("the context", context) }?;
    let Some(context) = context else {
        return Ok(Context::default());
    };
    // SAFETY: the caller promises that `call_id` has `call_id_len` bytes.
    let call_id = unsafe { bytes("the context's call_id", context.call_id, context.call_id_len) }?;
    // SAFETY: the caller promises that `batch` has `batch_len` bytes.
    let batch = unsafe { bytes("the context's batch", context.batch, context.batch_len) }?;
    let given = |id: &'a [u8]| (!id.is_empty()).then_some(id);
    Ok(Context { call_id: given(call_id), batch: given(batch) })
}

fn pack(checked: Checked) -> i64 {
    let low = i64::from(checked.noted) << 7 | i64::from(checked.action as u8);
    i64::try_from(checked.step << 8).unwrap_or(i64::MAX) & !0xff | low
}

/// Takes the outcome of a step that was let through. `kind` is one of `MICROLOOP_OUTCOME_TEXT`, `_JSON` and `_ERROR`.
///
/// Every step that was let through ends exactly once, here or with `microloop_cancel`; a second time is
/// `MICROLOOP_UNKNOWN_STEP`.
///
/// # Safety
/// `outcome` must be valid for reads of `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn microloop_record(session: u64, step: u64, kind: u32, outcome: *const u8, len: usize) -> i64 {
    guarded(|| {
        // SAFETY: the caller promises that `outcome` has `len` bytes.
        let outcome = outcome_of(kind, unsafe { bytes("the outcome", outcome, len) }?)?;
        let recorded = SESSIONS.with(session, |session| {
            let now_ms = session.clock.now_ms();
            session.engine.record(step, outcome, now_ms)
        })?;
        recorded.map_err(unknown_step)?;
        Ok(i64::from(MICROLOOP_OK))
    })
}

pub(crate) fn outcome_of(kind: u32, bytes: &[u8]) -> Result<Outcome<'_>, Fault> {
    match kind {
        MICROLOOP_OUTCOME_TEXT => Ok(Outcome::Text(bytes)),
        MICROLOOP_OUTCOME_JSON => Ok(Outcome::Json(bytes)),
        MICROLOOP_OUTCOME_ERROR => Ok(Outcome::Error(bytes)),
        _ => Err(wrong(format!("the outcome's kind is {kind}: pass MICROLOOP_OUTCOME_TEXT, _JSON or _ERROR"))),
    }
}

/// Says that a step that was let through did not run after all: it is forgotten, and the calls after it are judged as if it
/// had not been asked for.
#[unsafe(no_mangle)]
pub extern "C" fn microloop_cancel(session: u64, step: u64) -> i32 {
    guarded(|| {
        SESSIONS.with(session, |session| session.engine.cancel(step))?.map_err(unknown_step)?;
        Ok(MICROLOOP_OK)
    })
}

/// Says that the host refuses a step that was let through, for a reason of its own, such as a rule that only it can read. It
/// did not run, as with `microloop_cancel`, and it counts as a refusal like the library's own: a model that gets nothing
/// else is halted.
///
/// Returns what `microloop_check` returns: the action is block, or halt, and then the verdict says why.
#[unsafe(no_mangle)]
pub extern "C" fn microloop_refuse(session: u64, step: u64) -> i64 {
    guarded(|| {
        let refused = SESSIONS.with(session, |session| session.refuse(step))?;
        refused.map(pack).map_err(unknown_step)
    })
}

/// Tells of a turn: `speaker` is `MICROLOOP_SPEAKER_USER` or `MICROLOOP_SPEAKER_ASSISTANT`. A user turn starts the loop
/// counters anew, unless the policy says otherwise; assistant turns that are empty or repeat themselves get a verdict.
///
/// Returns what `microloop_check` returns.
///
/// # Safety
/// `text` must be valid for reads of `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn microloop_turn(session: u64, speaker: u32, text: *const u8, len: usize) -> i64 {
    guarded(|| {
        // SAFETY: the caller promises that `text` has `len` bytes.
        let text = unsafe { bytes("the turn's text", text, len) }?;
        let speaker = match speaker {
            MICROLOOP_SPEAKER_USER => Speaker::User,
            MICROLOOP_SPEAKER_ASSISTANT => Speaker::Assistant,
            _ => return Err(wrong(format!("the speaker is {speaker}: pass MICROLOOP_SPEAKER_USER or _ASSISTANT"))),
        };
        let checked = SESSIONS.with(session, |session| session.engine.turn(speaker, text))?;
        Ok(pack(checked))
    })
}

/// Tells what the model has spent since the last report: tokens, and billionths of a dollar. It is charged to this session
/// and to all its ancestors. A budget that is spent to the end halts the run; before that, from `wrap_up` of the policy on,
/// tools are refused by `microloop_check`, so that what is left is for the answer.
///
/// Returns what `microloop_check` returns.
#[unsafe(no_mangle)]
pub extern "C" fn microloop_spend(session: u64, tokens: u64, nano_usd: u64) -> i64 {
    guarded(|| {
        let spending = Spending { tokens, nano_usd };
        SESSIONS.with(session, |session| session.engine.spend(spending)).map(pack)
    })
}

/// Writes the whole verdict on a step to `buf`, as JSON, and returns how many bytes that has: `step`, `tool`, `action`,
/// `would` (in observe mode), `reason`, `rule`, `limit`, `seen`, `evidence` (step numbers), `feedback` (text for the model).
///
/// At most `cap` bytes are written; when more are returned, call again with a larger buffer. The verdicts of the last 64
/// noted steps are kept; any other step is `MICROLOOP_UNKNOWN_STEP`.
///
/// # Safety
/// `buf` must be valid for writes of `cap` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn microloop_verdict(session: u64, step: u64, buf: *mut u8, cap: usize) -> i64 {
    guarded(|| {
        let verdict = SESSIONS.with(session, |session| session.engine.verdict(step))?;
        let verdict = json(&verdict.ok_or_else(|| nothing_noted(step))?)?;
        // SAFETY: the caller promises that `buf` takes `cap` bytes.
        unsafe { fill(buf, cap, verdict.as_bytes()) }
    })
}

pub(crate) fn json(value: &impl Serialize) -> Result<String, Fault> {
    // Only a value that JSON cannot hold gets here, and ours have no such values.
    serde_json::to_string(value)
        .map_err(|error| Fault::new(MICROLOOP_PANIC, format!("a fault inside libmicroloop: {error}")))
}

#[cold]
pub(crate) fn unknown_step(UnknownStep(step): UnknownStep) -> Fault {
    let message = format!(
        "step {step} is not under way: it was never checked, was refused, or has its outcome already; record each step once"
    );
    Fault::new(MICROLOOP_UNKNOWN_STEP, message)
}

#[cold]
fn nothing_noted(step: u64) -> Fault {
    let message =
        format!("there is no verdict for step {step}: it was simply allowed, or 64 later ones were noted since");
    Fault::new(MICROLOOP_UNKNOWN_STEP, message)
}
