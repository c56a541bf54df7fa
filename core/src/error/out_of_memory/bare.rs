//! Creation of out-of-memory errors in firmware.
#![forbid(unsafe_code)]

use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::super::static_error;
use crate::error::Error;
use crate::plain_error;
use crate::platform::hooks;

/// The most recent failed allocation that the static error stands for: bytes asked and bytes free.
static UNSTATED: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];

/// Creates the MemoryError for a failed allocation of `asked` bytes while `free` bytes were free.
#[cold]
#[inline(never)]
pub(crate) fn out_of_memory_with_free(asked: usize, free: usize) -> Error {
    let error = message(asked, free);
    if static_error::is(&error) {
        UNSTATED[0].store(asked, Relaxed);
        UNSTATED[1].store(free, Relaxed);
    }
    error
}

/// Creates the MemoryError for a failed allocation of `asked` bytes.
pub(in crate::error) fn error_of(asked: usize) -> Error {
    out_of_memory_with_free(asked, hooks::largest_free())
}

/// Creates the MemoryError that the static error stands for.
pub(in crate::error) fn in_place_of_static() -> Error {
    message(UNSTATED[0].load(Relaxed), UNSTATED[1].load(Relaxed))
}

fn message(asked: usize, free: usize) -> Error {
    plain_error!(MEMORY_ERROR, "Out of memory: {} bytes asked, {} free", asked, free)
}
