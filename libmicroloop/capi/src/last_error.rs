//! The message of the last failure, for `microloop_last_error`.
//!
//! With std every thread has its own. Without std there is one slot for all.

use alloc::borrow::Cow;

use crate::{
    boundary::{fill, guarded},
    status::Fault,
};

#[cfg(feature = "std")]
mod slot {
    use std::{borrow::Cow, cell::RefCell};

    std::thread_local! {
        static LAST: RefCell<Cow<'static, str>> = const { RefCell::new(Cow::Borrowed("")) };
    }

    pub(super) fn set(message: Cow<'static, str>) {
        // A thread that is being torn down has no slot any more; the status is all it gets.
        let _gone = LAST.try_with(|last| last.replace(message));
    }

    pub(super) fn get() -> Cow<'static, str> {
        LAST.try_with(|last| last.borrow().clone()).unwrap_or_default()
    }
}

#[cfg(not(feature = "std"))]
mod slot {
    use alloc::borrow::Cow;

    use crate::lock::Lock;

    static LAST: Lock<Cow<'static, str>> = Lock::new(Cow::Borrowed(""));

    pub(super) fn set(message: Cow<'static, str>) {
        *LAST.lock() = message;
    }

    pub(super) fn get() -> Cow<'static, str> {
        LAST.lock().clone()
    }
}

/// Notes the message and hands back the status that goes to the host.
pub(crate) fn note(fault: Fault) -> i32 {
    slot::set(fault.message);
    fault.status
}

/// Writes this thread's last failure message to `buf`, without a terminating NUL, and returns how many bytes it has.
///
/// At most `cap` bytes are written; when more are returned, call again with a larger buffer (`buf` may be NULL when `cap`
/// is 0). A call that succeeds leaves the message alone. Messages never contain the arguments of a tool call.
///
/// # Safety
/// `buf` must be valid for writes of `cap` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn microloop_last_error(buf: *mut u8, cap: usize) -> i64 {
    guarded(|| {
        let message: Cow<'static, str> = slot::get();
        // SAFETY: the caller promises that `buf` takes `cap` bytes.
        let filled = unsafe { fill(buf, cap, message.as_bytes()) };
        // A failure of this very call is not noted: the message that was asked for must not be lost by it.
        Ok(filled.unwrap_or_else(|fault| i64::from(fault.status)))
    })
}
