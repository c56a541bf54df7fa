//! Strings copied from the buffer in which their content was composed.

use super::super::value_of;
use crate::any::Any;
use crate::error::Result;
use crate::memory::Buffer;
use crate::type_index;

/// Number of bytes to leave free at the start of the buffer: none.
pub(in crate::string) const LEAD_BYTES: usize = 0;

/// Creates a string with a copy of the content of a buffer, beginning at `start`.
///
/// # Errors
/// MemoryError.
pub(in crate::string) fn string_of(buffer: Buffer<u8>, start: usize) -> Result<Any> {
    value_of(type_index::SMALL_STR, buffer.get(start..).unwrap_or_default())
}
