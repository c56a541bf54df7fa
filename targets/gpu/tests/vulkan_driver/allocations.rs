//! Counts the allocations of a thread except those of the driver, by wrappers of `malloc` and its
//! family that take precedence over the C library's.

use core::cell::Cell;
use core::ffi::{c_int, c_void};

unsafe extern "C" {
    fn __libc_malloc(bytes: usize) -> *mut c_void;
    fn __libc_calloc(count: usize, bytes: usize) -> *mut c_void;
    fn __libc_realloc(block: *mut c_void, bytes: usize) -> *mut c_void;
    fn __libc_memalign(alignment: usize, bytes: usize) -> *mut c_void;
}

std::thread_local! {
    static COUNT: Cell<u32> = const { Cell::new(0) };
    static DRIVER_CALLS: Cell<u32> = const { Cell::new(0) };
}

fn note() {
    if DRIVER_CALLS.get() == 0 {
        COUNT.set(COUNT.get() + 1);
    }
}

/// Runs a call of the driver, whose allocations are not counted.
pub fn in_driver<R>(call: impl FnOnce() -> R) -> R {
    DRIVER_CALLS.set(DRIVER_CALLS.get() + 1);
    let result = call();
    DRIVER_CALLS.set(DRIVER_CALLS.get() - 1);
    result
}

/// Returns the number of allocations that `body` makes on this thread.
pub fn count(body: impl FnOnce()) -> u32 {
    let before = COUNT.get();
    body();
    COUNT.get() - before
}

/// Counts an allocation by C's `malloc`.
///
/// # Safety
/// Same requirements as in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malloc(bytes: usize) -> *mut c_void {
    note();
    // SAFETY: the caller's promise.
    unsafe { __libc_malloc(bytes) }
}

/// Counts an allocation by C's `calloc`.
///
/// # Safety
/// Same requirements as in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn calloc(count: usize, bytes: usize) -> *mut c_void {
    note();
    // SAFETY: the caller's promise.
    unsafe { __libc_calloc(count, bytes) }
}

/// Counts an allocation by C's `realloc`.
///
/// # Safety
/// Same requirements as in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn realloc(block: *mut c_void, bytes: usize) -> *mut c_void {
    note();
    // SAFETY: the caller's promise.
    unsafe { __libc_realloc(block, bytes) }
}

/// Counts an allocation by C's `aligned_alloc`.
///
/// # Safety
/// Same requirements as in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aligned_alloc(alignment: usize, bytes: usize) -> *mut c_void {
    note();
    // SAFETY: the caller's promise.
    unsafe { __libc_memalign(alignment, bytes) }
}

/// Counts an allocation by C's `posix_memalign`.
///
/// # Safety
/// Same requirements as in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posix_memalign(
    out: *mut *mut c_void,
    alignment: usize,
    bytes: usize,
) -> c_int {
    const NO_MEMORY: c_int = 12;
    note();
    // SAFETY: the caller's promise.
    unsafe {
        let block = __libc_memalign(alignment, bytes);
        if block.is_null() {
            return NO_MEMORY;
        }
        out.write(block);
    }
    0
}
