//! Which library and which ABI this is.

use alloc::format;
use core::ffi::{CStr, c_char};

use crate::{
    boundary::guarded,
    status::{Fault, MICROLOOP_ABI_MISMATCH, MICROLOOP_OK},
};

/// The version of this ABI. It grows when a function, a number or a struct changes its meaning or goes away; what is
/// only added leaves it alone.
pub const MICROLOOP_ABI_VERSION: u32 = 1;

const VERSION: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
    Ok(version) => version,
    Err(_) => c"",
};

/// The ABI version of the library that is running. Compare it with `MICROLOOP_ABI_VERSION`, or let `microloop_abi_check`
/// do so.
#[unsafe(no_mangle)]
pub extern "C" fn microloop_abi_version() -> u32 {
    MICROLOOP_ABI_VERSION
}

/// `MICROLOOP_OK` if the library keeps the ABI version that the host was built for (`MICROLOOP_ABI_VERSION`), else
/// `MICROLOOP_ABI_MISMATCH`. Call it first.
#[unsafe(no_mangle)]
pub extern "C" fn microloop_abi_check(wanted: u32) -> i32 {
    guarded(|| {
        if wanted == MICROLOOP_ABI_VERSION {
            return Ok(MICROLOOP_OK);
        }
        let what = if wanted < MICROLOOP_ABI_VERSION { "an older" } else { "a newer" };
        let message = format!(
            "the host was built for {what} ABI, version {wanted}, and this library has version {MICROLOOP_ABI_VERSION}: \
             build the host with this library's microloop.h"
        );
        Err(Fault::new(MICROLOOP_ABI_MISMATCH, message))
    })
}

/// The library's version as text that ends with NUL and is never freed.
#[unsafe(no_mangle)]
pub extern "C" fn microloop_version() -> *const c_char {
    VERSION.as_ptr()
}
