//! Text of boards: nobody decodes messages there, and telling what is UTF-8 costs more than a message.
#![forbid(unsafe_code)]

use super::Writer;

/// Writes bytes as they are.
pub(super) fn put(out: &mut Writer<'_>, text: &[u8]) {
    out.put(text);
}
