//! Where the host's pointers become Rust values, and Rust's failures become status numbers.

use alloc::format;

use crate::{
    last_error,
    status::{Fault, MICROLOOP_INVALID_ARGUMENT, MICROLOOP_NOT_UTF8, MICROLOOP_NULL_POINTER},
};

/// Runs the body of a C function: a fault becomes its status with the message noted, and no panic gets out.
pub(crate) fn guarded<T: From<i32>>(body: impl FnOnce() -> Result<T, Fault>) -> T {
    caught(body).unwrap_or_else(|fault| T::from(last_error::note(fault)))
}

#[cfg(feature = "std")]
fn caught<T>(body: impl FnOnce() -> Result<T, Fault>) -> Result<T, Fault> {
    // Unwind safety: what a panic may leave half done is behind a `Lock`, whose users accept that (see lock.rs).
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(body))
        .unwrap_or_else(|panic| Err(crate::panic::fault(&*panic)))
}

#[cfg(not(feature = "std"))]
fn caught<T>(body: impl FnOnce() -> Result<T, Fault>) -> Result<T, Fault> {
    body()
}

/// The host's bytes. NULL is an empty slice when `len` is 0 and a fault otherwise.
///
/// # Safety
/// If `data` is not null, it must be valid for reads of `len` bytes, unchanged for `'a`.
pub(crate) unsafe fn bytes<'a>(what: &str, data: *const u8, len: usize) -> Result<&'a [u8], Fault> {
    if len == 0 {
        return Ok(&[]);
    }
    if data.is_null() {
        return Err(null(what));
    }
    if isize::try_from(len).is_err() {
        let message =
            format!("the length of {what} is {len}, more than memory can hold: was a negative number passed?");
        return Err(Fault::new(MICROLOOP_INVALID_ARGUMENT, message));
    }
    // SAFETY: not null, not longer than `isize::MAX`, and the caller promises the rest.
    Ok(unsafe { core::slice::from_raw_parts(data, len) })
}

/// The host's bytes as text.
///
/// # Safety
/// As for [`bytes`].
pub(crate) unsafe fn text<'a>(what: &str, data: *const u8, len: usize) -> Result<&'a str, Fault> {
    // SAFETY: the caller promises what `bytes` asks for.
    let bytes = unsafe { bytes(what, data, len) }?;
    core::str::from_utf8(bytes).map_err(|error| {
        let message = format!("{what} is not UTF-8 at byte {}: encode it as UTF-8", error.valid_up_to());
        Fault::new(MICROLOOP_NOT_UTF8, message)
    })
}

/// A place of the host that takes one value. It starts as 0, so that no failure leaves an old handle behind.
#[derive(Debug)]
pub(crate) struct Out<T>(*mut T);

impl<T: Default> Out<T> {
    /// # Safety
    /// If `place` is neither null nor misaligned, it must stay valid for writes until `set` was called.
    pub(crate) unsafe fn new(what: &str, place: *mut T) -> Result<Self, Fault> {
        if place.is_null() {
            return Err(null(what));
        }
        if !place.is_aligned() {
            return Err(misaligned(what));
        }
        // SAFETY: not null, aligned, and the caller promises that it takes writes.
        unsafe { place.write(T::default()) };
        Ok(Self(place))
    }

    pub(crate) fn set(self, value: T) {
        // SAFETY: `new` checked the place, and its caller promised that it stays valid.
        unsafe { self.0.write(value) };
    }
}

/// A struct of the host, or none where the pointer is null.
///
/// # Safety
/// If `place` is neither null nor misaligned, it must be valid for reads for `'a`.
pub(crate) unsafe fn optional<'a, T>(what: &str, place: *const T) -> Result<Option<&'a T>, Fault> {
    if !place.is_null() && !place.is_aligned() {
        return Err(misaligned(what));
    }
    // SAFETY: null or aligned, and the caller promises that it can be read.
    Ok(unsafe { place.as_ref() })
}

/// Copies at most `cap` bytes to the host and says how many there are.
///
/// # Safety
/// If `buf` is not null, it must be valid for writes of `cap` bytes.
pub(crate) unsafe fn fill(buf: *mut u8, cap: usize, bytes: &[u8]) -> Result<i64, Fault> {
    let count = bytes.len().min(cap);
    if count > 0 {
        if buf.is_null() {
            return Err(null("the buffer"));
        }
        // SAFETY: `bytes` has at least `count` bytes, `buf` takes `cap >= count`, and ours is no memory of the host.
        unsafe { core::ptr::copy_nonoverlapping(bytes.as_ptr(), buf, count) };
    }
    Ok(i64::try_from(bytes.len()).unwrap_or(i64::MAX))
}

fn null(what: &str) -> Fault {
    Fault::new(MICROLOOP_NULL_POINTER, format!("{what} is NULL: pass a pointer to it"))
}

fn misaligned(what: &str) -> Fault {
    let message = format!("the pointer to {what} is misaligned: pass the address of a variable of the right type");
    Fault::new(MICROLOOP_INVALID_ARGUMENT, message)
}

#[cfg(all(test, feature = "std"))]
mod tests {
    #![expect(clippy::panic, clippy::unwrap_used, reason = "panics are what is tested")]

    use std::{string::String, vec};

    use super::*;
    use crate::{
        handle::Kind,
        last_error::microloop_last_error,
        registry::Registry,
        status::{MICROLOOP_PANIC, MICROLOOP_STALE_HANDLE},
    };

    fn message() -> String {
        let mut text = vec![0; 1024];
        // SAFETY: the buffer has that many bytes.
        let len = unsafe { microloop_last_error(text.as_mut_ptr(), text.len()) };
        text.truncate(usize::try_from(len).unwrap());
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn a_panic_becomes_a_status_and_a_message() {
        assert_eq!(guarded::<i32>(|| panic!("the index is odd")), MICROLOOP_PANIC);
        assert!(message().contains("(the index is odd): this call was not judged"), "{}", message());
    }

    #[test]
    fn a_panic_that_quotes_something_is_not_quoted() {
        let secret = String::from("hunter2");
        assert_eq!(guarded::<i64>(|| panic!("cannot cut {secret:?}")), i64::from(MICROLOOP_PANIC));
        assert!(message().contains("its text is left out") && !message().contains("hunter2"), "{}", message());
    }

    #[test]
    fn a_panic_inside_a_session_leaves_it_usable() {
        static NUMBERS: Registry<u32> = Registry::new(Kind::Session);
        let handle = NUMBERS.insert(7).unwrap();
        let status = guarded::<i32>(|| NUMBERS.with(handle, |_| panic!("in the middle")));
        assert_eq!(status, MICROLOOP_PANIC);
        assert_eq!(NUMBERS.with(handle, |number| *number).unwrap(), 7);
        NUMBERS.remove(handle).unwrap();
        assert_eq!(NUMBERS.with(handle, |number| *number).unwrap_err().status, MICROLOOP_STALE_HANDLE);
    }
}
