//! Creation of out-of-memory errors on hosts.
#![forbid(unsafe_code)]

use super::super::static_error;
use crate::error::Error;
use crate::plain_error;

/// Creates the MemoryError for a failed allocation of `asked` bytes.
pub(in crate::error) fn error_of(asked: usize) -> Error {
    if asked == usize::MAX {
        return plain_error!(MEMORY_ERROR, "Out of memory: the size overflows the address space");
    }
    plain_error!(MEMORY_ERROR, "Out of memory: {} bytes were refused", asked)
}

/// Returns the static error: hosts run out of memory for errors only when the process is about to
/// end.
pub(in crate::error) fn in_place_of_static() -> Error {
    static_error::out_of_memory()
}
