//! Refusals of the C heap.
#![forbid(unsafe_code)]

use crate::error::Error;
use crate::plain_error;

/// The error for `asked` bytes that were refused.
pub(in crate::error) fn refused(asked: usize) -> Error {
    if asked == usize::MAX {
        return plain_error!(MEMORY_ERROR, "Out of memory: the size overflows the address space");
    }
    plain_error!(MEMORY_ERROR, "Out of memory: {} bytes were refused", asked)
}
