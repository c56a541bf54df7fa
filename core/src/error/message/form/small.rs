//! The packed encoding of message strings: byte-pair encoding, which halves their flash size.
//!
//! The pairs were counted over the messages of this library, with triple weight for ring 1. The
//! most frequent pairs come first, and later pairs may contain earlier ones. Other strings are
//! encoded correctly but less compactly.

use super::super::END;
use crate::platform::text::Writer;

/// The first byte value that encodes a pair.
const FIRST: u8 = 0x80;

/// The byte pairs encoded by `FIRST` and the following byte values.
#[rustfmt::skip]
const PAIRS: [[u8; 2]; 128] = [
    [b'e', b' '], [b't', b' '], [b's', b' '], [b'i', b'n'], [b' ', b't'], [b'o', b'r'], [b'e', b'd'],
    [b'n', b'o'], [b'y', b'p'], [b'e', b'r'], [b'r', b'e'], [b'a', b'l'], [0x88, 0x80], [b'a', b'n'],
    [b'o', b'f'], [0x87, 0x81], [b't', b'h'], [b' ', b'f'], [b':', b' '], [b'o', b'n'], [b'e', b'n'],
    [b' ', b'm'], [b'i', 0x82], [b'e', b'c'], [b's', b't'], [0x84, 0x8c], [b't', b'i'], [b'i', b'l'],
    [b'u', b's'], [b'h', 0x80], [b'd', b'e'], [b'h', b'a'], [b'u', b'n'], [b' ', 0x96], [0x9c, 0x81],
    [b'u', b'l'], [0x8e, b' '], [b',', b' '], [b't', b'a'], [b'y', b' '], [b'C', b'h'], [b'a', 0x9b],
    [0xa9, 0x86], [0x91, 0xaa], [0x97, b'k'], [b'a', b'r'], [0xa8, 0xac], [0x89, b' '], [b'a', b' '],
    [0x99, b'`'], [b'd', b' '], [b'b', 0x80], [0x9a, 0x93], [b'u', 0x81], [b'i', 0x98], [0xae, 0xab],
    [b'a', b'c'], [b'l', b'o'], [0x95, 0xa2], [b'v', 0x80], [0x85, b' '], [0x88, b'e'], [0x8a, b'g'],
    [0xbe, 0xb6], [0x86, b' '], [0xa0, b'c'], [b' ', b'd'], [b's', b'i'], [b'e', b'l'], [b't', 0x82],
    [b'u', b'm'], [0x84, 0x9d], [b'r', b'o'], [0x9f, 0x82], [0x83, b'g'], [0x9e, b'x'], [b'a', b'd'],
    [b'D', b'L'], [b'n', 0xa3], [0xce, b'l'], [b'T', 0x9d], [b't', b'e'], [0xb7, 0x92], [0x8d, b' '],
    [0xc1, 0xb4], [0x8d, 0x8f], [b' ', b'b'], [b'o', b' '], [b'u', b'p'], [0x94, 0x81], [0x83, 0xcb],
    [b'l', b'i'], [b'a', b's'], [0x8b, b'l'], [0xc8, b'm'], [b'a', 0x81], [0xbd, b'_'], [0xbf, 0x89],
    [b'c', 0x93], [0x90, 0x80], [0x94, b's'], [0xb8, b'k'], [0xba, 0x8f], [b'a', 0xa6], [b'p', b'o'],
    [b'a', b'm'], [b'h', b'o'], [b'c', b'a'], [b't', 0x8c], [b'o', 0xb5], [0x8a, b's'], [b'l', 0x80],
    [b'n', b'e'], [0x95, b'e'], [b'i', 0xc4], [b's', b'e'], [b'f', 0x85], [b'p', b'a'], [0xa1, 0x8f],
    [0xe6, 0xb3], [b'o', b'd'], [0xca, b' '], [b'v', 0x8b], [b'g', 0xc6], [0x8e, 0xb1], [b'i', b'm'],
    [b'i', 0x81], [b'i', 0x90],
];

/// Maximum length of a message text in bytes.
const LONGEST: usize = 512;

/// Returns the length of a packed text.
pub(in crate::error::message) const fn len(text: &str) -> usize {
    pack(text).1
}

/// Packs a string into `to`, with [`PLACEHOLDER`](super::super::PLACEHOLDER) for each placeholder.
/// The rest of `to` is unchanged.
pub(in crate::error::message) const fn write(text: &str, to: &mut [u8]) {
    let (packed, len) = pack(text);
    to.split_at_mut(len).0.copy_from_slice(packed.split_at(len).0);
}

/// Packs a string. Returns the packed text and its length.
const fn pack(text: &str) -> ([u8; LONGEST], usize) {
    let mut packed = [END; LONGEST];
    let mut len = super::super::mark_placeholders(text.as_bytes(), &mut packed);
    let mut code = FIRST;
    while ((code - FIRST) as usize) < PAIRS.len() {
        len = replace(&mut packed, len, PAIRS[(code - FIRST) as usize], code);
        code = code.wrapping_add(1);
        if code == 0 {
            break;
        }
    }
    (packed, len)
}

/// Replaces each `pair` by `code`. Returns the new length.
const fn replace(text: &mut [u8; LONGEST], len: usize, pair: [u8; 2], code: u8) -> usize {
    let (mut from, mut to) = (0, 0);
    while from < len {
        let is_pair = from + 1 < len && text[from] == pair[0] && text[from + 1] == pair[1];
        text[to] = if is_pair { code } else { text[from] };
        from += if is_pair { 2 } else { 1 };
        to += 1;
    }
    to
}

/// Writes a packed text up to its next placeholder or its end. Returns the address where it
/// stopped.
///
/// # Safety
/// The text must end with [`END`].
#[inline]
pub(in crate::error::message) unsafe fn put(
    mut text: *const u8,
    out: &mut Writer<'_>,
) -> *const u8 {
    loop {
        // SAFETY: the caller's promise: nothing beyond the end is read.
        match unsafe { text.read() } {
            ..=END => return text,
            byte => unpack(byte, out),
        }
        text = text.wrapping_add(1);
    }
}

/// Writes the decoded form of one byte. Pairs nest at most six deep.
fn unpack(byte: u8, out: &mut Writer<'_>) {
    match byte.checked_sub(FIRST).and_then(|code| PAIRS.get(usize::from(code))) {
        Some([first, second]) => {
            unpack(*first, out);
            unpack(*second, out);
        }
        None => out.put(&[byte]),
    }
}

// A pair consists of letters and earlier pairs.
const _: () = {
    let mut code = 0;
    while code < PAIRS.len() {
        let [first, second] = PAIRS[code];
        assert!(first > END && (first as usize) < FIRST as usize + code);
        assert!(second > END && (second as usize) < FIRST as usize + code);
        code += 1;
    }
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_comes_back() {
        let text = "Argument `{}` must not be null: the types of {} and {} are not the same";
        let (packed, len) = pack(text);
        assert!(len < text.len() * 2 / 3);
        let mut room = [0; LONGEST];
        let mut out = Writer::new(&mut room);
        packed[..len].iter().for_each(|byte| unpack(*byte, &mut out));
        let len = out.wanted;
        assert_eq!(room[..len], *text.replace("{}", "\u{1}").as_bytes());
    }
}
