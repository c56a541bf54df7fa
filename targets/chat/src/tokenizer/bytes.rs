//! The characters that stand for bytes in the vocabularies of byte-level tokenizers.

/// All bytes in order.
pub(super) static ALL: [u8; 256] = {
    let mut all = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        all[byte] = byte as u8;
        byte += 1;
    }
    all
};

/// Returns whether a byte is its own character: the visible ones of Latin-1.
const fn is_visible(byte: u8) -> bool {
    matches!(byte, 33..=126 | 161..=172 | 174..=255)
}

/// Returns the character of each byte. Invisible bytes have those from U+0100 on, in order.
pub(super) fn characters() -> [char; 256] {
    let mut hidden = '\u{100}'..;
    ALL.map(
        |byte| if is_visible(byte) { char::from(byte) } else { hidden.next().unwrap_or_default() },
    )
}

/// Returns the byte of a character; `None` for characters that stand for none.
pub(super) fn byte_of(character: char) -> Option<u8> {
    match u32::from(character) {
        code @ 0..=255 => u8::try_from(code).ok().filter(|byte| is_visible(*byte)),
        code => {
            let at = usize::try_from(code).ok()?.checked_sub(256)?;
            ALL.iter().copied().filter(|byte| !is_visible(*byte)).nth(at)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_byte_has_one_character() {
        let characters = characters();
        assert_eq!((characters[32], characters[10], characters[65]), ('Ġ', 'Ċ', 'A'));
        for (byte, character) in ALL.iter().zip(characters) {
            assert_eq!(byte_of(character), Some(*byte));
        }
        assert_eq!(byte_of('\u{200}'), None);
    }
}
