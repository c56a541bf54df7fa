//! Size-optimised scanning of strings, one byte at a time.
#![forbid(unsafe_code)]

use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;

use super::escape::write_escape;

/// Returns the length of the prefix of a JSON string that contains no escape, quote or control
/// character.
pub(crate) fn literal_len(text: &[u8]) -> usize {
    text.iter().position(|byte| matches!(byte, 0..0x20 | b'"' | b'\\')).unwrap_or(text.len())
}

/// Returns `None`: there is no fast path for short strings.
pub(in crate::json) fn short_literal(_: &[u8]) -> Option<(u64, usize)> {
    None
}

/// Appends the content of a JSON string, escaped where needed.
///
/// # Errors
/// MemoryError.
pub(super) fn write_content(out: &mut Buffer<u8>, text: &[u8]) -> Result<()> {
    text.iter().try_for_each(|byte| match is_plain(*byte) {
        true => Ok(out.try_push(*byte)?),
        false => write_escape(out, *byte),
    })
}

/// Returns `true` if upstream writes the byte without an escape.
fn is_plain(byte: u8) -> bool {
    !matches!(byte, 0..0x20 | b'"' | b'\\' | b'/' | 0x7f)
}
