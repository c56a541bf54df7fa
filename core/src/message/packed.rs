//! How boards keep messages: frequent pairs of letters are one byte, which takes half the flash of the texts.
//!
//! The pairs were counted over the messages of this library, the most frequent first, in which later ones use earlier ones. A
//! message that they do not fit takes more room, nothing else.
#![forbid(unsafe_code)]

use super::{END, PLACE};
use crate::text::Writer;

/// The first byte that stands for a pair.
const FIRST: u8 = 0x80;

/// What stands for `FIRST`, and so on.
#[rustfmt::skip]
const PAIRS: [[u8; 2]; 128] = [
    [b'e', b' '], [b't', b' '], [b's', b' '], [b'i', b'n'], [b' ', b't'], [b'n', b'o'], [b'o', b'r'],
    [b'e', b'd'], [b'e', b'r'], [b'a', b'l'], [b'y', b'p'], [b'e', b'n'], [b'a', b'n'], [0x85, 0x81],
    [b'o', b'n'], [b'o', b'f'], [b'h', 0x80], [b'e', b'c'], [b' ', b'm'], [0x8a, 0x80], [b'r', b'e'],
    [b' ', b'f'], [b'i', 0x82], [b':', b' '], [b'u', b's'], [b'h', b'a'], [b't', b'i'], [b's', b't'],
    [b'd', b'e'], [b'a', b'r'], [0x84, 0x93], [0x98, 0x81], [b'u', b'l'], [0x8f, b' '], [b' ', 0x96],
    [b'a', b' '], [b't', b'h'], [b'u', b'n'], [b'i', b'l'], [b'b', 0x80], [b's', b'i'], [b'y', b' '],
    [b',', b' '], [0x92, 0x9f], [b'e', b'l'], [b'd', b' '], [b'm', 0x8b], [0x83, b'g'], [0x88, b' '],
    [0x9a, 0x8e], [b'a', 0xa6], [0xb2, 0x87], [0x95, 0xb3], [0x86, b' '], [0x89, b'l'], [0x9c, b'x'],
    [b'C', b'h'], [b'a', b'c'], [b'a', b't'], [b'n', 0xa0], [0x91, b'k'], [0xbb, b'l'], [b'T', 0x90],
    [b'u', 0x81], [0xb8, 0xbc], [b'e', 0x82], [0x84, 0x90], [0x8c, b' '], [0x83, 0xb7], [0x99, 0x82],
    [0xa5, b'c'], [b'i', 0x9b], [b'o', b'm'], [0x87, b' '], [0x9e, b'`'], [0xab, 0x8d], [0xc0, 0xb4],
    [b'v', 0x80], [b'v', 0x89], [b' ', b'b'], [b'D', b'L'], [0x8b, b's'], [b'o', b' '], [0x8a, b'e'],
    [b'a', b'd'], [b'r', b'a'], [0x94, b'g'], [0xcc, 0x97], [b'g', b'u'], [b'i', b'c'], [b's', b'e'],
    [0x8c, 0x8d], [0xc6, 0xb1], [b' ', b'd'], [b'l', b'o'], [0xa7, 0xbd], [b't', 0x82], [0xd6, 0xc7],
    [b'b', b'j'], [0xe2, 0x91], [b'f', b'i'], [0xcb, 0xdf], [b'n', b'e'], [b'u', b'p'], [0xd8, 0xae],
    [b' ', b'w'], [b'a', b's'], [b'p', b'o'], [0x83, b't'], [b'a', b'm'], [b'r', 0xc8], [0xb9, b'k'],
    [0xc4, b' '], [b'i', b's'], [b't', 0x90], [0x88, 0x80], [b'c', 0x8e], [b'c', 0xb6], [b'f', 0x86],
    [0x85, b' '], [0xaf, b' '], [0xce, b'u'], [0xd1, 0x86], [b'i', 0xa4], [b'o', 0xbf], [b't', 0x93],
    [b'y', b't'], [0xa2, 0x8d],
];

/// Bytes of the longest message.
const LONGEST: usize = 512;

/// Bytes of the text, packed.
pub(super) const fn len(text: &str) -> usize {
    pack(text).1
}

/// Packs a text that has [`PLACE`] for its places; what is behind it in `to` stays.
pub(super) const fn write(text: &str, to: &mut [u8]) {
    let (packed, len) = pack(text);
    to.split_at_mut(len).0.copy_from_slice(packed.split_at(len).0);
}

/// The packed text and its length.
const fn pack(text: &str) -> ([u8; LONGEST], usize) {
    let mut packed = [END; LONGEST];
    let mut len = super::places_marked(text.as_bytes(), &mut packed);
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

/// Puts `code` in the place of each `pair`; gives the new length.
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

/// Writes what one byte of a packed text stands for. Pairs nest six deep.
pub(super) fn put(byte: u8, out: &mut Writer<'_>) {
    match byte.checked_sub(FIRST).and_then(|code| PAIRS.get(usize::from(code))) {
        Some([first, second]) => {
            put(*first, out);
            put(*second, out);
        }
        None => out.put(&[byte]),
    }
}

// A pair is made of letters and of earlier pairs.
const _: () = {
    let mut code = 0;
    while code < PAIRS.len() {
        let [first, second] = PAIRS[code];
        assert!(first > PLACE && (first as usize) < FIRST as usize + code);
        assert!(second > PLACE && (second as usize) < FIRST as usize + code);
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
        packed[..len].iter().for_each(|byte| put(*byte, &mut out));
        let len = out.wanted;
        assert_eq!(room[..len], *text.replace("{}", "\u{1}").as_bytes());
    }
}
