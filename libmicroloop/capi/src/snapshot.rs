//! Sessions between two processes: saved as bytes, and begun again from them.

use alloc::{format, string::String, sync::Arc, vec::Vec};

use microloop_core::{
    digest::Digest,
    engine::{Engine, HasParent, NotRestored},
};
use serde::{Deserialize, Serialize};

use crate::{
    boundary::{Out, bytes, fill, guarded},
    clock::{Clock, SavedClock},
    document::wrong,
    met_tools::{Met, MetTools},
    policy::{self, PolicyEntry},
    session::{SESSIONS, Session},
    status::{Fault, MICROLOOP_INVALID_SNAPSHOT, MICROLOOP_OK, MICROLOOP_OTHER_POLICY, MICROLOOP_PANIC},
    tool,
};

/// How a saved session begins. The last byte is the number of the format: another one for every change of what follows.
const HEAD: &[u8] = b"mls\x04";

/// The rest, with its digest before it: a damaged snapshot is none.
#[derive(Serialize, Deserialize)]
struct Sealed<'s> {
    seal: Digest,
    snapshot: &'s [u8],
}

#[derive(Serialize, Deserialize)]
struct Snapshot<'s> {
    policy: Digest,
    clock: SavedClock,
    /// The tools that the session has met, by their numbers.
    tools: Vec<SavedTool>,
    engine: &'s [u8],
}

#[derive(Serialize, Deserialize)]
enum SavedTool {
    /// By its declaration
    Declared(Vec<u8>),
    Named(String),
    Shared(String),
}

/// Writes a session to `buf` as bytes that `microloop_session_load` takes, and returns how many there are.
///
/// At most `cap` bytes are written; when more are returned, call again with a larger buffer. They hold digests and counts,
/// the names and declarations of the tools that were called, and the verdicts that can still be asked for; never arguments or
/// results. The session of a sub-agent (with a parent) cannot be saved: `MICROLOOP_INVALID_ARGUMENT`.
///
/// # Safety
/// `buf` must be valid for writes of `cap` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn microloop_session_save(session: u64, buf: *mut u8, cap: usize) -> i64 {
    guarded(|| {
        let saved = SESSIONS.with(session, |session| save(session))??;
        // SAFETY: the caller promises that `buf` takes `cap` bytes.
        unsafe { fill(buf, cap, &saved) }
    })
}

/// Begins a session where a saved one stood, also in another process. `*session` is its handle, or 0 on failure.
///
/// The policy must be the one that it was saved under, in whatever spelling; another is `MICROLOOP_OTHER_POLICY`, and
/// bytes that are no saved session, or damaged, or saved by another version are `MICROLOOP_INVALID_SNAPSHOT`. Begin a new
/// session then. The tools that were called are declared with the policy, unless they are already.
///
/// Its time goes on from the moment when it was saved: by what the wall clock says has passed since, or, where the host
/// keeps the clock, with the host's next `microloop_session_time`.
///
/// # Safety
/// `saved` must be valid for reads of `len` bytes and `session` for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn microloop_session_load(policy: u64, saved: *const u8, len: usize, session: *mut u64) -> i32 {
    guarded(|| {
        // SAFETY: the caller promises that `session` takes a write.
        let out = unsafe { Out::new("the place for the session", session) }?;
        // SAFETY: the caller promises that `saved` has `len` bytes.
        let saved = unsafe { bytes("the saved session", saved, len) }?;
        out.set(SESSIONS.insert(load(policy::entry(policy)?, saved)?)?);
        Ok(MICROLOOP_OK)
    })
}

fn save(session: &Session) -> Result<Vec<u8>, Fault> {
    let engine = session.engine.save().map_err(|HasParent| has_parent())?;
    let snapshot = encode(&Snapshot {
        policy: session.policy.fingerprint(),
        clock: session.clock.saved(),
        tools: saved_tools(session),
        engine: &engine,
    })?;
    let sealed = encode(&Sealed { seal: Digest::of(&snapshot), snapshot: &snapshot })?;
    Ok([HEAD, &sealed].concat())
}

fn saved_tools(session: &Session) -> Vec<SavedTool> {
    let mut declarations = session.policy.tools().declarations(|index| session.tools.has_met(index));
    let saved = |met: &Met| match met {
        Met::Declared(index) => declarations.remove(index).map(SavedTool::Declared),
        Met::Named(tool) => Some(SavedTool::Named(tool.name.clone())),
        Met::Shared(tool) => Some(SavedTool::Shared(tool.name.clone())),
    };
    session.tools.met().iter().filter_map(saved).collect()
}

fn encode(value: &impl Serialize) -> Result<Vec<u8>, Fault> {
    // Only a value without a length gets here, and ours all have one.
    postcard::to_allocvec(value)
        .map_err(|error| Fault::new(MICROLOOP_PANIC, format!("a fault inside libmicroloop: {error}")))
}

fn load(policy: Arc<PolicyEntry>, saved: &[u8]) -> Result<Session, Fault> {
    let snapshot: Snapshot<'_> = decode(unsealed(saved)?)?;
    if snapshot.policy != policy.fingerprint() {
        return Err(other_policy());
    }
    let mut tools = MetTools::default();
    for saved in &snapshot.tools {
        match saved {
            SavedTool::Declared(declaration) => {
                tools.meet(tool::declare(&policy, declaration)?, policy.tools())?;
            }
            SavedTool::Named(name) => {
                tools.meet_named(name, &policy)?;
            }
            SavedTool::Shared(name) => {
                tools.meet_shared(name, &policy)?;
            }
        }
    }
    let engine = Engine::restore(Arc::clone(policy.rules()), snapshot.engine, &tools.in_order())
        .map_err(|NotRestored(why)| invalid(&why))?;
    Ok(Session { engine, clock: Clock::resumed(snapshot.clock), policy, tools })
}

/// What follows the head, if it is what was written there.
fn unsealed(saved: &[u8]) -> Result<&[u8], Fault> {
    let Some(sealed) = saved.strip_prefix(HEAD) else {
        return Err(invalid("they do not begin as this version of the library begins them"));
    };
    let Sealed { seal, snapshot } = decode(sealed)?;
    if Digest::of(snapshot) == seal { Ok(snapshot) } else { Err(invalid("they are damaged")) }
}

fn decode<'s, T: Deserialize<'s>>(bytes: &'s [u8]) -> Result<T, Fault> {
    match postcard::take_from_bytes(bytes) {
        Ok((value, [])) => Ok(value),
        Ok(_) => Err(invalid("something stands after them")),
        Err(_) => Err(invalid("they are damaged")),
    }
}

fn invalid(why: &str) -> Fault {
    let message = format!("these bytes are no saved session: {why}; begin a new session");
    Fault::new(MICROLOOP_INVALID_SNAPSHOT, message)
}

fn other_policy() -> Fault {
    let message = "the session was saved under another policy: restore it with that one, or begin a new session";
    Fault::new(MICROLOOP_OTHER_POLICY, message)
}

fn has_parent() -> Fault {
    wrong(
        "a session with a parent cannot be saved, for its calls would be charged to the parent no more: \
         save the parent, and begin the child anew",
    )
}
