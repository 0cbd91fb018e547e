//! The C ABI as Rust tests use it: what a host does, without the pointers.
#![allow(dead_code, reason = "each test binary uses a part of it")]

use microloop::{check, last_error, policy, progress, session, snapshot, tool};
use serde_json::Value;

/// What a C function gave: its value, or the status and message of its failure.
pub type Given<T> = Result<T, (i32, String)>;

/// This thread's last failure message.
pub fn last_error() -> String {
    let mut text = vec![0; 4096];
    // SAFETY: the buffer has that many bytes.
    let len = unsafe { last_error::microloop_last_error(text.as_mut_ptr(), text.len()) };
    text.truncate(usize::try_from(len).unwrap_or(0));
    String::from_utf8(text).expect("messages are UTF-8")
}

fn given<T>(status: i32, value: T) -> Given<T> {
    if status == 0 { Ok(value) } else { Err((status, last_error())) }
}

/// A handle of a policy.
#[derive(Debug, Clone, Copy)]
pub struct Policy(pub u64);

impl Policy {
    pub fn new(json: &str) -> Given<Self> {
        let mut handle = 0;
        // SAFETY: the text has that many bytes and the handle takes a write.
        let status = unsafe { policy::microloop_policy_new(json.as_ptr(), json.len(), &raw mut handle) };
        given(status, Self(handle))
    }

    pub fn tool(self, declaration: &Value) -> Given<u32> {
        let text = declaration.to_string();
        let mut index = 0;
        // SAFETY: the text has that many bytes and the index takes a write.
        let status = unsafe { tool::microloop_policy_tool(self.0, text.as_ptr(), text.len(), &raw mut index) };
        given(status, index)
    }

    pub fn session(self, options: &str) -> Given<Session> {
        let mut handle = 0;
        // SAFETY: the text has that many bytes and the handle takes a write.
        let status =
            unsafe { session::microloop_session_new(self.0, options.as_ptr(), options.len(), &raw mut handle) };
        given(status, Session(handle))
    }

    pub fn load(self, saved: &[u8]) -> Given<Session> {
        let mut handle = 0;
        // SAFETY: the bytes are as many as that and the handle takes a write.
        let status = unsafe { snapshot::microloop_session_load(self.0, saved.as_ptr(), saved.len(), &raw mut handle) };
        given(status, Session(handle))
    }

    pub fn free(self) -> Given<()> {
        given(policy::microloop_policy_free(self.0), ())
    }
}

/// A handle of a session.
#[derive(Debug, Clone, Copy)]
pub struct Session(pub u64);

/// A packed verdict, or a negative status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packed(pub i64);

impl Packed {
    pub fn action(self) -> i64 {
        self.0 & 0x7f
    }

    pub fn noted(self) -> bool {
        self.0 >> 7 & 1 == 1
    }

    pub fn step(self) -> u64 {
        u64::try_from(self.0 >> 8).expect("a verdict, not a status")
    }
}

impl Session {
    pub fn check(self, tool: u32, arguments: &[u8]) -> Packed {
        // SAFETY: the arguments have that many bytes; a null context is allowed.
        Packed(unsafe { check::microloop_check(self.0, tool, arguments.as_ptr(), arguments.len(), std::ptr::null()) })
    }

    pub fn check_named(self, name: &[u8], arguments: &[u8]) -> Packed {
        self.check_named_in(name, arguments, b"", b"")
    }

    /// A call with an id, in a batch.
    pub fn check_named_in(self, name: &[u8], arguments: &[u8], call_id: &[u8], batch: &[u8]) -> Packed {
        let context = check::MicroloopContext {
            call_id: call_id.as_ptr(),
            call_id_len: call_id.len(),
            batch: batch.as_ptr(),
            batch_len: batch.len(),
        };
        let (args, len) = (arguments.as_ptr(), arguments.len());
        // SAFETY: name, arguments and the context's texts have that many bytes.
        Packed(unsafe {
            check::microloop_check_named(self.0, name.as_ptr(), name.len(), args, len, &raw const context)
        })
    }

    pub fn record_error(self, step: u64, error: &[u8]) -> i64 {
        // SAFETY: the error has that many bytes.
        unsafe { check::microloop_record(self.0, step, check::MICROLOOP_OUTCOME_ERROR, error.as_ptr(), error.len()) }
    }

    pub fn record(self, step: u64, outcome: &[u8]) -> i64 {
        // SAFETY: the outcome has that many bytes.
        unsafe { check::microloop_record(self.0, step, check::MICROLOOP_OUTCOME_TEXT, outcome.as_ptr(), outcome.len()) }
    }

    pub fn observe(self, tool: u32, arguments: &[u8], outcome: &[u8]) -> Packed {
        let (text, len) = (outcome.as_ptr(), outcome.len());
        // SAFETY: arguments and outcome have that many bytes.
        let packed = unsafe {
            progress::microloop_observe(
                self.0,
                tool,
                arguments.as_ptr(),
                arguments.len(),
                check::MICROLOOP_OUTCOME_TEXT,
                text,
                len,
            )
        };
        Packed(packed)
    }

    pub fn progress(self, step: u64) -> Value {
        // SAFETY: `read` passes a buffer and how much it takes.
        let text = read(|buf, cap| unsafe { progress::microloop_progress(self.0, step, buf, cap) });
        serde_json::from_slice(&text).expect("a report is JSON")
    }

    pub fn turn(self, speaker: u32, text: &str) -> Packed {
        // SAFETY: the text has that many bytes.
        Packed(unsafe { check::microloop_turn(self.0, speaker, text.as_ptr(), text.len()) })
    }

    pub fn spend(self, tokens: u64, nano_usd: u64) -> Packed {
        Packed(check::microloop_spend(self.0, tokens, nano_usd))
    }

    pub fn time(self, now_ms: u64) {
        assert_eq!(session::microloop_session_time(self.0, now_ms), 0);
    }

    pub fn verdict(self, step: u64) -> Value {
        // SAFETY: `read` passes a buffer and how much it takes.
        let text = read(|buf, cap| unsafe { check::microloop_verdict(self.0, step, buf, cap) });
        serde_json::from_slice(&text).expect("a verdict is JSON")
    }

    pub fn state(self) -> Value {
        // SAFETY: `read` passes a buffer and how much it takes.
        let text = read(|buf, cap| unsafe { session::microloop_session_state(self.0, buf, cap) });
        serde_json::from_slice(&text).expect("a state is JSON")
    }

    pub fn save(self) -> Given<Vec<u8>> {
        // SAFETY: there is no buffer, and none of it is written.
        let needed = unsafe { snapshot::microloop_session_save(self.0, std::ptr::null_mut(), 0) };
        let mut saved = vec![0; usize::try_from(needed).unwrap_or(0)];
        // SAFETY: the buffer has that many bytes.
        let written = unsafe { snapshot::microloop_session_save(self.0, saved.as_mut_ptr(), saved.len()) };
        given(i32::try_from(needed.min(0)).expect("a status"), saved).inspect(|_| assert_eq!(written, needed))
    }

    pub fn free(self) -> Given<()> {
        given(session::microloop_session_free(self.0), ())
    }
}

fn read(fill: impl Fn(*mut u8, usize) -> i64) -> Vec<u8> {
    let needed = usize::try_from(fill(std::ptr::null_mut(), 0)).expect("there is a text");
    let mut text = vec![0; needed];
    assert_eq!(usize::try_from(fill(text.as_mut_ptr(), needed)), Ok(needed));
    text
}
