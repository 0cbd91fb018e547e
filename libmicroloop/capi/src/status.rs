//! What a call can come back with: the status numbers, and a fault on its way to one.
//!
//! Numbers are never reused. A retired one stays in this list, marked as reserved.

use alloc::borrow::Cow;

/// All is well.
pub const MICROLOOP_OK: i32 = 0;
/// A pointer that must not be null is null.
pub const MICROLOOP_NULL_POINTER: i32 = -1;
/// The handle is 0, was freed, is of another kind, or never came from this library.
pub const MICROLOOP_STALE_HANDLE: i32 = -2;
/// The text is not UTF-8.
pub const MICROLOOP_NOT_UTF8: i32 = -3;
/// The text is not JSON.
pub const MICROLOOP_NOT_JSON: i32 = -4;
/// The policy document breaks the policy language.
pub const MICROLOOP_INVALID_POLICY: i32 = -5;
/// An argument of the C function itself is wrong: an unknown key, an empty tool name, a misaligned pointer.
pub const MICROLOOP_INVALID_ARGUMENT: i32 = -6;
/// The tool index was never declared with this session's policy.
pub const MICROLOOP_UNKNOWN_TOOL: i32 = -7;
/// The step was never given out, is over, or is too old to be remembered.
pub const MICROLOOP_UNKNOWN_STEP: i32 = -8;
/// A limit of the library itself: handles, or tools of one policy.
pub const MICROLOOP_LIMIT: i32 = -9;
/// A JSON Schema is asked for, and this build, without std, has none.
pub const MICROLOOP_NO_SCHEMA_SUPPORT: i32 = -10;
/// The JSON Schema does not compile, or refers to something outside itself.
pub const MICROLOOP_INVALID_SCHEMA: i32 = -11;
/// The pattern needs look-around or backreferences, which no linear-time engine has.
pub const MICROLOOP_UNSUPPORTED_REGEX: i32 = -12;
/// The host was built for another version of this ABI.
pub const MICROLOOP_ABI_MISMATCH: i32 = -13;
/// A fault of the library itself, caught at the boundary. Treat the call as the policy's `on_error` says.
pub const MICROLOOP_PANIC: i32 = -14;
/// The bytes are no saved session, or a damaged one, or one of another version of this library.
pub const MICROLOOP_INVALID_SNAPSHOT: i32 = -15;
/// The session was saved under another policy.
pub const MICROLOOP_OTHER_POLICY: i32 = -16;

/// Why a C function fails: its status and the text for `microloop_last_error`.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) status: i32,
    pub(crate) message: Cow<'static, str>,
}

impl Fault {
    pub(crate) fn new(status: i32, message: impl Into<Cow<'static, str>>) -> Self {
        Self { status, message: message.into() }
    }
}
