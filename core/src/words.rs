//! Bytes of texts, eight at a time.
#![forbid(unsafe_code)]

/// The last `len` bytes of a text, at most 7 of them, as the low bytes of a word that ends in zeros.
#[inline]
pub fn tail(text: &[u8], len: usize) -> u64 {
    debug_assert!(len < 8 && len <= text.len());
    if let (Some(word), 1..) = (text.last_chunk(), len) {
        // Without the bytes in front.
        return u64::from_le_bytes(*word) >> (64 - 8 * len);
    }
    // Two halves that may overlap hold the same bytes where they do.
    let text = text.get(text.len() - len..).unwrap_or_default();
    if let (Some(low), Some(high)) = (text.first_chunk(), text.last_chunk()) {
        return u64::from(u32::from_le_bytes(*low)) | u64::from(u32::from_le_bytes(*high)) << (8 * (len - 4));
    }
    match text {
        [] => 0,
        // So do three bytes.
        [first, ..] => {
            let byte = |at: usize| u64::from(text.get(at).copied().unwrap_or_default()) << (8 * at);
            u64::from(*first) | byte(len / 2) | byte(len - 1)
        }
    }
}

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
