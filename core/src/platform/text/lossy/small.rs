//! Output of bytes in size-optimised builds, without a check for valid UTF-8: messages are not
//! decoded there, and the check would take more code than a message.
#![forbid(unsafe_code)]

use super::super::Writer;

/// Writes bytes unchanged.
pub(in crate::platform::text) fn put(out: &mut Writer<'_>, text: &[u8]) {
    out.put(text);
}

/// Writes bytes with a small loop.
pub(in crate::platform::text) fn append(out: &mut Writer<'_>, text: &[u8]) {
    for byte in text {
        if let Some(place) = out.target.get_mut(out.wanted) {
            *place = *byte;
        }
        out.wanted = out.wanted.wrapping_add(1);
    }
}

/// Writes a 32-bit number in decimal. The functions for 64 bits are linked only if 64-bit numbers
/// are written.
pub(in crate::platform::text) fn put_word(out: &mut Writer<'_>, number: usize) {
    let tenth = number / 10;
    if tenth != 0 {
        put_word(out, tenth);
    }
    out.put(&[b'0' + (number - 10 * tenth) as u8]);
}
