//! Text of hosts: readers in other languages decode messages, so what is not UTF-8 must not get there.
#![forbid(unsafe_code)]

use super::super::Writer;

/// Writes bytes; what is not UTF-8 becomes the replacement character.
pub(in crate::text) fn put(out: &mut Writer<'_>, text: &[u8]) {
    for chunk in text.utf8_chunks() {
        out.put(chunk.valid().as_bytes());
        if !chunk.invalid().is_empty() {
            out.put("\u{fffd}".as_bytes());
        }
    }
}

/// Writes bytes, many at a time.
#[inline]
pub(in crate::text) fn append(out: &mut Writer<'_>, text: &[u8]) {
    if let Some(room) = out.target.get_mut(out.wanted..) {
        room.iter_mut().zip(text).for_each(|(to, from)| *to = *from);
    }
    out.wanted = out.wanted.saturating_add(text.len());
}

/// Writes a number of the size of an address.
#[inline]
pub(in crate::text) fn put_word(out: &mut Writer<'_>, number: usize) {
    out.put_digits(number as u64);
}
