//! Whether a regular expression is one that the core can run.

use microloop_core::{policy::PolicyErrorKind, rules::check_regex};

use crate::{
    boundary::{guarded, text},
    policy,
    status::{Fault, MICROLOOP_INVALID_ARGUMENT, MICROLOOP_OK},
};

/// `MICROLOOP_OK` if a rule may have this regular expression, `MICROLOOP_UNSUPPORTED_REGEX` if it needs look-around or
/// backreferences, which no linear-time engine has, and `MICROLOOP_INVALID_ARGUMENT` if it is none at all.
///
/// # Safety
/// `pattern` must be valid for reads of `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn microloop_regex_check(pattern: *const u8, len: usize) -> i32 {
    guarded(|| {
        // SAFETY: the caller promises that `pattern` has `len` bytes.
        let pattern = unsafe { text("the pattern", pattern, len) }?;
        match check_regex(pattern) {
            Ok(()) => Ok(MICROLOOP_OK),
            Err(error) if error.kind == PolicyErrorKind::Invalid => {
                Err(Fault::new(MICROLOOP_INVALID_ARGUMENT, error.message))
            }
            Err(error) => Err(policy::fault(error)),
        }
    })
}
