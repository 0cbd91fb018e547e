//! The price of crossing the boundary, for benchmarks.

use crate::check::MicroloopContext;

/// Takes what `microloop_check` takes, does nothing, and returns 0: the floor under every measurement from another
/// language.
///
/// # Safety
/// Nothing is read, so there is nothing to promise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn microloop_noop(
    session: u64,
    tool: u32,
    args: *const u8,
    len: usize,
    context: *const MicroloopContext,
) -> i64 {
    core::hint::black_box((session, tool, args, len, context));
    0
}
