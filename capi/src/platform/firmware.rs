//! What firmware may ask of the library beside the ABI: its log and its memory.

use core::ffi::{c_char, c_int, c_void};

use ferrite_core::{log, memory, plain_ensure};

use crate::boundary::{self, arg};

/// Takes a line of the log: `size` bytes without a zero at the end, the last of which is a newline. UTF-8, unless a name in it is
/// not, or the line was too long and was cut.
///
/// Runs on the stack of the call that had something to tell, in an interrupt handler too; no lock is held meanwhile.
pub type FerriteLogSink = unsafe extern "C" fn(text: *const c_char, size: usize);

/// Sends the warnings of the library to `sink` from now on; null drops them, as is done until the first call.
///
/// # Safety
/// `sink` may be called at any time until another one is set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn FerriteLogSet(sink: Option<FerriteLogSink>) {
    // SAFETY: as the caller vouches.
    unsafe { log::set_sink(sink) };
}

/// Adds `size` bytes from `region` on to the pool that all memory of the library comes from, for good. Any alignment will do.
///
/// The pool starts with `FERRITE_POOL_BYTES`, which is chosen when the library is built, 0 being possible: what registers
/// before `main`, as system libraries do, needs some. Returns 0; or -1 with ValueError raised for null and for less memory than a
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

/// Tells the bytes of the pool that are in use, with what each block takes beside its content.
#[unsafe(no_mangle)]
pub extern "C" fn FerriteMemoryUsed() -> usize {
    memory::stats().used
}

/// Tells the most bytes of the pool that were in use at once: what the pool needs to have, and some more for the gaps
/// between blocks.
#[unsafe(no_mangle)]
pub extern "C" fn FerriteMemoryHighWater() -> usize {
    memory::stats().high_water
}

/// Tells the bytes of the pool that are not in use.
#[unsafe(no_mangle)]
pub extern "C" fn FerriteMemoryFree() -> usize {
    let stats = memory::stats();
    stats.capacity - stats.used
}
