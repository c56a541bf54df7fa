//! The end of a text byte by byte, where size counts.
#![forbid(unsafe_code)]

/// The last `len` bytes of a text, at most 7 of them, as the low bytes of a word that ends in zeros.
pub fn tail(text: &[u8], len: usize) -> u64 {
    text.iter().rev().take(len).fold(0, |word, byte| word << 8 | u64::from(*byte))
}
