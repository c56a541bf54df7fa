//! Functions for firmware beside the ABI: the log, and the memory of the library.

use core::ffi::{c_char, c_int, c_void};

use ferrite_core::{log, memory, plain_ensure};

use crate::boundary::{self, arg};

/// A function that takes a line of the log: `size` bytes, of which the last is a newline, without a zero behind it. The
/// line is UTF-8, unless a name in it is not or the line was too long and was cut.
///
/// It runs on the stack of the call that logs, which may be in an interrupt handler; no lock is held meanwhile.
pub type FerriteLogSink = unsafe extern "C" fn(text: *const c_char, size: usize);

/// Sets the function that takes the lines of the log, which are warnings of the library. Null drops them, which is the
/// default.
///
/// # Safety
/// `sink` may be called at any time until another one is set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn FerriteLogSet(sink: Option<FerriteLogSink>) {
    // SAFETY: as the caller vouches.
    unsafe { log::set_sink(sink) };
}

/// Adds `size` bytes that start at `region` to the pool that all memory of the library comes from, permanently. Any
/// alignment will do.
///
/// The pool starts with `FERRITE_POOL_BYTES`, chosen when the library is built. It may be 0, unless something registers
/// before `main`, as system libraries do. Returns 0; or -1 with ValueError raised for null or for less memory than a
/// block takes.
///
/// # Safety
/// Nobody else uses the memory as long as the program runs.
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

/// Returns the bytes of the pool that are in use, with the overhead of each block.
#[unsafe(no_mangle)]
pub extern "C" fn FerriteMemoryUsed() -> usize {
    memory::stats().used
}

/// Returns the most bytes of the pool that were in use at once. The pool must have this many, and some more for gaps
/// between blocks.
#[unsafe(no_mangle)]
pub extern "C" fn FerriteMemoryHighWater() -> usize {
    memory::stats().high_water
}

/// Returns the bytes of the pool that are not in use.
#[unsafe(no_mangle)]
pub extern "C" fn FerriteMemoryFree() -> usize {
    let stats = memory::stats();
    stats.capacity - stats.used
}
