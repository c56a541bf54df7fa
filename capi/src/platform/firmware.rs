//! C functions for firmware beyond the TVM-FFI ABI: the log sink, and the library's memory pool.

use core::ffi::{c_char, c_int, c_void};

use ferrite_core::error::log;
use ferrite_core::plain_ensure;
use ferrite_core::platform::memory;

use crate::boundary::{self, arg};

/// Callback that receives one line of the log. `text` has `size` bytes, ends with a newline and is
/// not null-terminated. It may be invalid UTF-8: names are copied as they are, and a long line may
/// be truncated in the middle of a character.
///
/// It is called in the context of the logging code, which may be an interrupt handler. No lock is
/// held during the call.
pub type FerriteLogSink = unsafe extern "C" fn(text: *const c_char, size: usize);

/// Sets the callback that receives the library's log, which consists of warnings. Null, the
/// default, discards the log.
///
/// # Safety
/// `sink` must be callable at any time until another one is set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn FerriteLogSet(sink: Option<FerriteLogSink>) {
    // SAFETY: the caller's promise.
    unsafe { log::set_sink(sink) };
}

/// Permanently adds `size` bytes at `region` to the library's memory pool. The region need not be
/// aligned.
///
/// The pool initially has `FERRITE_POOL_BYTES` bytes, chosen when the library is built. The initial
/// size may be 0, unless functions are registered before `main`, as system libraries do. Returns 0,
/// or -1 with ValueError raised for a null region or a region that is smaller than a block.
///
/// # Safety
/// No other code may use the memory as long as the program runs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn FerriteMemoryAdd(region: *mut c_void, size: usize) -> c_int {
    boundary::status(|| {
        let start = boundary::non_null(region, arg(1, "region"))?.cast();
        // SAFETY: contract of this function.
        let has_room = unsafe { memory::add_region(start, size) };
        plain_ensure!(has_room, VALUE_ERROR, "A region of {} bytes has no room for a block", size);
        Ok(())
    })
}

/// Returns the number of bytes in use in the memory pool, including the overhead of each block.
#[unsafe(no_mangle)]
pub extern "C" fn FerriteMemoryUsed() -> usize {
    memory::stats().used
}

/// Returns the high-water mark of the memory pool in bytes. The pool must be at least this large,
/// plus a margin for fragmentation.
#[unsafe(no_mangle)]
pub extern "C" fn FerriteMemoryHighWater() -> usize {
    memory::stats().high_water
}

/// Returns the number of free bytes in the memory pool.
#[unsafe(no_mangle)]
pub extern "C" fn FerriteMemoryFree() -> usize {
    let stats = memory::stats();
    stats.capacity - stats.used
}
