//! Plain messages, which render fast and in little code.

use super::super::END;
use crate::text::Writer;

/// Length of the encoded text.
pub(in crate::message) const fn len(text: &str) -> usize {
    text.len() - super::super::count_placeholders(text)
}

/// Encodes a text, with [`PLACEHOLDER`](super::super::PLACEHOLDER) for its placeholders; the rest of `to` is unchanged.
pub(in crate::message) const fn write(text: &str, to: &mut [u8]) {
    super::super::mark_placeholders(text.as_bytes(), to);
}

/// Writes a text up to its next placeholder or end; returns the address where it stopped.
///
/// # Safety
/// The text ends with [`END`].
#[inline(always)]
pub(in crate::message) unsafe fn put(text: *const u8, out: &mut Writer<'_>) -> *const u8 {
    // SAFETY: the caller's promise: nothing beyond the end is read.
    unsafe {
        let mut end = text;
        while end.read() > END {
            end = end.add(1);
        }
        out.put(core::slice::from_raw_parts(text, end.offset_from_unsigned(text)));
        end
    }
}
