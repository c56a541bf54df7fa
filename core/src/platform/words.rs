//! Short byte strings as 64-bit words, for comparison and hashing.
#![forbid(unsafe_code)]

/// The odd number nearest to 2^64 divided by the golden ratio, for Fibonacci hashing: the upper
/// bits of a product with it are a hash, and neighbouring keys are spread.
pub const GOLDEN_RATIO: u64 = 0x9e37_79b9_7f4a_7c15;

/// Packs up to 8 bytes into a zero-padded little-endian word. Returns `None` for a longer string.
#[inline]
pub fn pack_short(text: &[u8]) -> Option<u64> {
    match text.len() {
        0..8 => Some(pack_last(text, text.len())),
        8 => text.first_chunk().map(|word| u64::from_le_bytes(*word)),
        _ => None,
    }
}

/// Whether [`pack_last`] uses wide loads, which take 160 bytes of flash more than a byte loop.
const WIDE: bool = cfg!(feature = "speed");

/// Packs the last `len` bytes of a string, at most 7, into a zero-padded little-endian word.
#[inline]
pub fn pack_last(text: &[u8], len: usize) -> u64 {
    debug_assert!(len < 8 && len <= text.len());
    if !WIDE {
        return text.iter().rev().take(len).fold(0, |word, byte| word << 8 | u64::from(*byte));
    }
    if let (Some(word), 1..) = (text.last_chunk(), len) {
        // Shifts out the bytes before the tail.
        return u64::from_le_bytes(*word) >> (64 - 8 * len);
    }
    // The halves may overlap; overlapping bytes are equal.
    let text = text.get(text.len() - len..).unwrap_or_default();
    if let (Some(low), Some(high)) = (text.first_chunk(), text.last_chunk()) {
        return u64::from(u32::from_le_bytes(*low))
            | u64::from(u32::from_le_bytes(*high)) << (8 * (len - 4));
    }
    match text {
        [] => 0,
        // The middle and last byte may coincide with the first.
        [first, ..] => {
            let byte = |at: usize| u64::from(text.get(at).copied().unwrap_or_default()) << (8 * at);
            u64::from(*first) | byte(len / 2) | byte(len - 1)
        }
    }
}

/// Whether strings of 17 to 32 bytes are compared inline, too. Size-optimised builds call the
/// library function.
const UP_TO_32: bool = cfg!(feature = "speed");

/// Returns `true` if two byte strings are equal. Short strings are compared inline, since a call
/// would take longer than the comparison.
#[inline]
pub fn are_same(one: &[u8], other: &[u8]) -> bool {
    if one.len() != other.len() {
        return false;
    }
    match one.len() {
        0..8 => pack_last(one, one.len()) == pack_last(other, other.len()),
        // The words may overlap.
        8..=16 => {
            one.first_chunk::<8>() == other.first_chunk()
                && one.last_chunk::<8>() == other.last_chunk()
        }
        17..=32 if UP_TO_32 => {
            one.first_chunk::<16>() == other.first_chunk()
                && one.last_chunk::<16>() == other.last_chunk()
        }
        _ => one == other,
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
                assert_eq!(
                    pack_last(&text[..total], len),
                    u64::from_le_bytes(expected),
                    "{len} of {total}"
                );
            }
        }
    }
    #[test]
    fn short_texts_are_words() {
        assert_eq!(pack_short(b""), Some(0));
        assert_eq!(pack_short(b"ab"), Some(0x6261));
        assert_eq!(pack_short(b"12345678").map(u64::to_le_bytes), Some(*b"12345678"));
        assert_eq!(pack_short(b"123456789"), None);
    }

    #[test]
    fn every_byte_counts() {
        let text = b"abcdefghijklmnopqrstuvwxyz0123456789";
        for len in 0..text.len() {
            let one = &text[..len];
            let mut other = *text;
            assert!(are_same(one, &other[..len]) && !are_same(one, text));
            for at in 0..len {
                other[at] ^= 1;
                assert!(!are_same(one, &other[..len]), "{at} of {len}");
                other[at] ^= 1;
            }
        }
    }
}
