//! The end of a text in wide loads.
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
