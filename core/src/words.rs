//! Bytes of texts, eight at a time.
#![forbid(unsafe_code)]

#[cfg_attr(feature = "std", path = "words/wide.rs")]
#[cfg_attr(not(feature = "std"), path = "words/by_byte.rs")]
mod end;

pub use end::tail;

/// A text of up to 8 bytes as a word that ends in zeros; None for a longer one.
#[inline]
pub fn short(text: &[u8]) -> Option<u64> {
    match text.len() {
        0..8 => Some(tail(text, text.len())),
        8 => text.first_chunk().map(|word| u64::from_le_bytes(*word)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_are_little_endian() {
        let text = b"abcdefghijklm";
        for total in 0..text.len() {
            for len in 0..8.min(total + 1) {
                let mut expected = [0; 8];
                expected[..len].copy_from_slice(&text[total - len..total]);
                assert_eq!(tail(&text[..total], len), u64::from_le_bytes(expected), "{len} of {total}");
            }
        }
    }
    #[test]
    fn short_texts_are_words() {
        assert_eq!(short(b""), Some(0));
        assert_eq!(short(b"ab"), Some(0x6261));
        assert_eq!(short(b"12345678").map(u64::to_le_bytes), Some(*b"12345678"));
        assert_eq!(short(b"123456789"), None);
    }
}
