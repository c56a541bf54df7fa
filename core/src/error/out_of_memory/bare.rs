//! Creation of out-of-memory errors in firmware.
#![forbid(unsafe_code)]

use crate::error::Error;
use crate::{plain_error, platform};

/// Creates the MemoryError for a failed allocation of `asked` bytes while `free` bytes were free.
#[cold]
#[inline(never)]
pub(crate) fn out_of_memory_with_free(asked: usize, free: usize) -> Error {
    plain_error!(MEMORY_ERROR, "Out of memory: {} bytes asked, {} free", asked, free)
}

/// Creates the MemoryError for a failed allocation of `asked` bytes.
pub(in crate::error) fn error_of(asked: usize) -> Error {
    out_of_memory_with_free(asked, platform::largest_free())
}
