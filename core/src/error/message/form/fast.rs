//! The plain encoding of message strings, which renders fast and needs little code.

use super::super::END;
use crate::platform::text::Writer;

/// Returns the length of an encoded text.
pub(in crate::error::message) const fn len(text: &str) -> usize {
    text.len() - super::super::count_placeholders(text)
}

/// Encodes a string into `to`, with [`PLACEHOLDER`](super::super::PLACEHOLDER) for each
/// placeholder. The rest of `to` is unchanged.
pub(in crate::error::message) const fn write(text: &str, to: &mut [u8]) {
    super::super::mark_placeholders(text.as_bytes(), to);
}

/// Writes an encoded text up to its next placeholder or its end. Returns the address where it
/// stopped.
///
/// # Safety
/// The text must end with [`END`].
#[inline(always)]
pub(in crate::error::message) unsafe fn put(text: *const u8, out: &mut Writer<'_>) -> *const u8 {
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
