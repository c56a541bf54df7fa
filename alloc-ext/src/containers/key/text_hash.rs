//! The hash of a text, the same that upstream's C++ code computes.
#![forbid(unsafe_code)]

use ferrite_core::words;

/// A Mersenne prime, modulus of the text hash.
const MODULUS: u64 = 0x7fff_ffff;
/// Multiplier of the text hash, the prime of the 64-bit FNV hash.
const MULTIPLIER: u64 = 1_099_511_628_211;

/// The hash of a payload word that holds up to 7 bytes.
pub(super) fn hash_word(word: u64) -> u64 {
    modulo(u64::from_le_bytes(word.to_ne_bytes()))
}

/// The hash of a text: 8 bytes at a time, the last word filled up with zeros.
///
/// # Upstream
/// `StableHashBytes` in `include/tvm/ffi/base_detail.h`.
pub fn hash_bytes(bytes: &[u8]) -> u64 {
    let mut words = bytes.chunks_exact(8);
    let mut result = 0u64;
    for word in &mut words {
        result = hash_step(result, word.first_chunk().map_or(0, |word| u64::from_le_bytes(*word)));
    }
    match words.remainder() {
        [] => result,
        tail => hash_step(result, words::tail(bytes, tail.len())),
    }
}

/// Takes one more word of a text into its hash.
pub(crate) fn hash_step(result: u64, word: u64) -> u64 {
    modulo(result.wrapping_mul(MULTIPLIER).wrapping_add(word))
}

/// The rest of a division by [`MODULUS`], which is 2^31 - 1: what is above 31 bits counts once more from below.
fn modulo(number: u64) -> u64 {
    let folded = (number & MODULUS) + (number >> 31);
    let rest = (folded & MODULUS) + (folded >> 31);
    if rest >= MODULUS { rest - MODULUS } else { rest }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_and_long_forms_of_a_text_hash_alike() {
        for length in 0..8 {
            let bytes = &b"abcdefg"[..length];
            let mut word = [0; 8];
            word[..length].copy_from_slice(bytes);
            assert_eq!(hash_bytes(bytes), hash_word(u64::from_ne_bytes(word)));
        }
    }
}
