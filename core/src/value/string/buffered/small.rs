//! Strings copied from the buffer in which their content was composed.

use super::super::value_of;
use crate::abi::type_index;
use crate::error::Result;
use crate::platform::memory::Buffer;
use crate::value::any::Any;

/// Number of bytes to leave free at the start of the buffer: none.
pub(in crate::value::string) const LEAD_BYTES: usize = 0;

/// Creates a string with a copy of the content of a buffer, beginning at `start`.
///
/// # Errors
/// MemoryError.
pub(in crate::value::string) fn string_of(buffer: Buffer<u8>, start: usize) -> Result<Any> {
    value_of(type_index::SMALL_STR, buffer.get(start..).unwrap_or_default())
}
