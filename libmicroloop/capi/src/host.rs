//! What a host without an operating system must supply. Only in the build without std.

use core::{
    alloc::{GlobalAlloc, Layout},
    panic::PanicInfo,
};

unsafe extern "C" {
    /// Memory of at least `size` bytes at a multiple of `align` (a power of two), or NULL. Called with a lock held, so it
    /// must not call back into microloop.
    fn microloop_host_alloc(size: usize, align: usize) -> *mut u8;
    /// Takes back what `microloop_host_alloc` gave for this size and alignment.
    fn microloop_host_free(memory: *mut u8, size: usize, align: usize);
    /// Must not return. The core cannot panic by lint; this is for memory that runs out.
    fn microloop_host_panic() -> !;
}

struct Host;

// SAFETY: the host promises, by supplying the two functions, that they are an allocator; neither unwinds, being C.
unsafe impl GlobalAlloc for Host {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the host's function takes any size and alignment of a `Layout`.
        unsafe { microloop_host_alloc(layout.size(), layout.align()) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller promises that `memory` came from `alloc` with this layout.
        unsafe { microloop_host_free(memory, layout.size(), layout.align()) }
    }
}

#[global_allocator]
static HOST: Host = Host;

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    // SAFETY: the host's function takes nothing and never returns.
    unsafe { microloop_host_panic() }
}

/// The precompiled `alloc` names this symbol in its unwind tables, and the next in its landing pads. Nothing unwinds here:
/// a panic ends in `microloop_host_panic`, so that neither is ever reached.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}

#[unsafe(no_mangle)]
extern "C" fn _Unwind_Resume() -> ! {
    // SAFETY: the host's function takes nothing and never returns.
    unsafe { microloop_host_panic() }
}
