//! Text of boards: nobody decodes messages there, and telling what is UTF-8 costs more than a message.
#![forbid(unsafe_code)]

use super::Writer;

/// Writes bytes as they are.
pub(super) fn put(out: &mut Writer<'_>, text: &[u8]) {
    out.put(text);
}

/// Writes bytes, in few instructions.
pub(super) fn append(out: &mut Writer<'_>, text: &[u8]) {
    for byte in text {
        if let Some(place) = out.target.get_mut(out.wanted) {
            *place = *byte;
        }
        out.wanted = out.wanted.wrapping_add(1);
    }
}
