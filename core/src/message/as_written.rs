//! Messages as they are written: making one takes little time, and little code.
#![forbid(unsafe_code)]

use crate::text::Writer;

/// Bytes of the text.
pub(super) const fn len(text: &str) -> usize {
    text.len() - super::places(text)
}

/// Copies a text, with [`PLACE`](super::PLACE) for its places; what is behind it in `to` stays.
pub(super) const fn write(text: &str, to: &mut [u8]) {
    super::places_marked(text.as_bytes(), to);
}

/// Writes what one byte stands for.
pub(super) fn put(byte: u8, out: &mut Writer<'_>) {
    out.put(&[byte]);
}
