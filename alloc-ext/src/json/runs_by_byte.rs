//! Where runs of plain bytes end in strings, one byte at a time, where size counts.
#![forbid(unsafe_code)]

use super::escape_of;

/// Length of the run of bytes that stand for themselves inside a JSON string.
pub(crate) fn literal_len(text: &[u8]) -> usize {
    text.iter().position(|byte| matches!(byte, 0..0x20 | b'"' | b'\\')).unwrap_or(text.len())
}

/// None: short strings are read as all others are.
pub(in super::super) fn short_literal(_: &[u8]) -> Option<(u64, usize)> {
    None
}

/// Length of the run of bytes that upstream writes as they are.
pub(super) fn unescaped_len(text: &[u8]) -> usize {
    text.iter().position(|byte| escape_of(*byte).is_some()).unwrap_or(text.len())
}
