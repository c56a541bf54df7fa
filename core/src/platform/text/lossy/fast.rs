//! Lossy output for speed-optimised builds. Clients in other languages decode messages as UTF-8, so
//! invalid bytes are replaced.
#![forbid(unsafe_code)]

use super::super::Writer;

/// Writes bytes, replacing invalid UTF-8 with the replacement character.
pub(in crate::platform::text) fn put(out: &mut Writer<'_>, text: &[u8]) {
    for chunk in text.utf8_chunks() {
        out.put(chunk.valid().as_bytes());
        if !chunk.invalid().is_empty() {
            out.put("\u{fffd}".as_bytes());
        }
    }
}

/// Writes bytes with a loop that compilers vectorise.
#[inline]
pub(in crate::platform::text) fn append(out: &mut Writer<'_>, text: &[u8]) {
    if let Some(room) = out.target.get_mut(out.wanted..) {
        room.iter_mut().zip(text).for_each(|(to, from)| *to = *from);
    }
    out.wanted = out.wanted.saturating_add(text.len());
}

/// Writes a pointer-sized number in decimal.
#[inline]
pub(in crate::platform::text) fn put_word(out: &mut Writer<'_>, number: usize) {
    out.put_digits(number as u64);
}
