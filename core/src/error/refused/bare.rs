//! Refusals of the memory of firmware.
#![forbid(unsafe_code)]

use crate::error::Error;
use crate::{plain_error, platform};

/// The error for `asked` bytes that were refused where `free` bytes were left.
#[cold]
#[inline(never)]
pub(crate) fn refused_of(asked: usize, free: usize) -> Error {
    plain_error!(MEMORY_ERROR, "Out of memory: {} bytes asked, {} free", asked, free)
}

/// The error for `asked` bytes that the platform refused.
pub(in crate::error) fn refused(asked: usize) -> Error {
    refused_of(asked, platform::largest_free())
}
