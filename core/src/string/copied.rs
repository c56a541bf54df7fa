//! Strings of texts that were put together in a buffer, where size counts: copies.

use super::value_of;
use crate::any::Any;
use crate::error::Result;
use crate::memory::Buffer;
use crate::type_index;

/// Bytes that a buffer starts with.
pub(super) const LEAD_BYTES: usize = 0;

/// The text of a buffer from `start` on.
///
/// # Errors
/// MemoryError.
pub(super) fn string_of(buffer: Buffer<u8>, start: usize) -> Result<Any> {
    value_of(type_index::SMALL_STR, buffer.get(start..).unwrap_or_default())
}
