//! Functions for firmware besides the ABI: the log, and the memory of the library.

use core::ffi::{c_char, c_int, c_void};

use ferrite_core::{log, memory, plain_ensure};

use crate::boundary::{self, arg};

/// Receives a line of the log: `size` bytes that end with a newline, without a terminating zero. The line is UTF-8,
/// unless a name in it is not or the line was truncated.
///
/// Called on the stack of the logging call, which may be in an interrupt handler; no lock is held meanwhile.
pub type FerriteLogSink = unsafe extern "C" fn(text: *const c_char, size: usize);

/// Sets the function that receives the lines of the log, which are warnings of the library. Null discards them, which
/// is the default.
///
/// # Safety
/// `sink` may be called at any time until another one is set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn FerriteLogSet(sink: Option<FerriteLogSink>) {
    // SAFETY: the caller's promise.
    unsafe { log::set_sink(sink) };
}

/// Adds `size` bytes that start at `region` to the library's memory pool, permanently. Any alignment will do.
///
/// The pool starts with `FERRITE_POOL_BYTES`, chosen when the library is built. It may be 0, unless code registers
/// functions before `main`, as system libraries do. Returns 0; or -1 with ValueError raised for null or for a region
/// smaller than a block.
///
/// # Safety
/// Nothing else uses the memory as long as the program runs.
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

/// Returns the number of bytes of the pool in use, including the overhead of each block.
#[unsafe(no_mangle)]
pub extern "C" fn FerriteMemoryUsed() -> usize {
    memory::stats().used
}

/// Returns the high-water mark of the pool in bytes. The pool must have at least this many, plus some for gaps between
/// blocks.
#[unsafe(no_mangle)]
pub extern "C" fn FerriteMemoryHighWater() -> usize {
    memory::stats().high_water
}

/// Returns the number of free bytes of the pool.
#[unsafe(no_mangle)]
pub extern "C" fn FerriteMemoryFree() -> usize {
    let stats = memory::stats();
    stats.capacity - stats.used
}
