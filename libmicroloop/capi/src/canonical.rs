//! Canonical JSON for the host.

use alloc::vec::Vec;

use microloop_core::{canonical, json::Json};

use crate::{
    boundary::{fill, guarded, text},
    status::{Fault, MICROLOOP_NOT_JSON},
};

/// Writes the canonical text (RFC 8785) of a JSON text to `buf` and returns how many bytes it has.
///
/// At most `cap` bytes are written; when more are returned, call again with a larger buffer. What the guard itself refuses
/// is refused here too: keys that come twice, integers beyond 64 bits, nesting beyond 127 levels, lone surrogates.
///
/// # Safety
/// `json` must be valid for reads of `len` bytes and `buf` for writes of `cap` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn microloop_canonical(json: *const u8, len: usize, buf: *mut u8, cap: usize) -> i64 {
    guarded(|| {
        // SAFETY: the caller promises that `json` has `len` bytes.
        let json = unsafe { text("the JSON text", json, len) }?;
        let tree = Json::parse(json.as_bytes()).map_err(|error| {
            let message = alloc::format!("the JSON text is not JSON: {error}");
            Fault::new(MICROLOOP_NOT_JSON, message)
        })?;
        let mut out = Vec::new();
        canonical::write(&tree, &mut out);
        // SAFETY: the caller promises that `buf` takes `cap` bytes.
        unsafe { fill(buf, cap, &out) }
    })
}
