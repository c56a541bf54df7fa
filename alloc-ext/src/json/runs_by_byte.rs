//! Where runs of plain bytes end in strings, one byte at a time, where size counts.
#![forbid(unsafe_code)]

use ferrite_core::error::Result;
use ferrite_core::memory::Buffer;

use super::write_escape;

/// Length of the run of bytes that stand for themselves inside a JSON string.
pub(crate) fn literal_len(text: &[u8]) -> usize {
    text.iter().position(|byte| matches!(byte, 0..0x20 | b'"' | b'\\')).unwrap_or(text.len())
}

/// None: short strings are read as all others are.
pub(in super::super) fn short_literal(_: &[u8]) -> Option<(u64, usize)> {
    None
}

/// Appends the content of a JSON string.
///
/// # Errors
/// MemoryError.
pub(super) fn write_content(out: &mut Buffer<u8>, text: &[u8]) -> Result<()> {
    text.iter().try_for_each(|byte| match is_plain(*byte) {
        true => Ok(out.try_push(*byte)?),
        false => write_escape(out, *byte),
    })
}

/// Whether upstream writes a byte as it is.
fn is_plain(byte: u8) -> bool {
    !matches!(byte, 0..0x20 | b'"' | b'\\' | b'/' | 0x7f)
}
