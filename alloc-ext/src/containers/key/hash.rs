//! Hashes of map keys, equal to those of upstream's C++ code.
#![forbid(unsafe_code)]

use ferrite_core::abi::type_index;
use ferrite_core::error::Result;
use ferrite_core::platform::words;
use ferrite_core::value::any::AnyView;
use ferrite_core::value::big_int::BigInt;
use ferrite_core::value::convert::AnyCompatible;

use super::equal::{is_plain, prefetch_text};
use super::hooks::HASH_HOOKS;

/// Modulus of the string hash, the Mersenne prime 2^31 - 1.
const MODULUS: u64 = 0x7fff_ffff;
/// Multiplier of the string hash, which is the prime of the 64-bit FNV hash.
const MULTIPLIER: u64 = 1_099_511_628_211;

/// Returns the hash of a value as a map key.
///
/// # Errors
/// Errors of the type's `__any_hash__` hook; InternalError if the hook is not a function or does
/// not return an int.
///
/// # Examples
/// ```
/// use ferrite_alloc_ext::containers::key;
/// use ferrite_core::value::any::AnyView;
///
/// # fn main() -> ferrite_core::error::Result<()> {
/// assert_eq!(key::hash(&AnyView::from(5i64))?, 2654435839);
/// # Ok(())
/// # }
/// ```
///
/// # Upstream
/// `AnyHash` in `include/tvm/ffi/any.h`.
#[inline]
pub fn hash(key: &AnyView<'_>) -> Result<u64> {
    if is_plain(key) {
        return Ok(combine(key.type_index(), key.payload_bits()));
    }
    hash_content(key)
}

#[inline(never)]
fn hash_content(key: &AnyView<'_>) -> Result<u64> {
    let type_index = key.type_index();
    Ok(match type_index {
        type_index::SMALL_STR => hash_short_text(key.payload_bits()),
        type_index::STR => hash_long_text(key),
        _ => return hash_rare(key),
    })
}

/// Returns the hash of a small string, given its payload bits.
#[inline]
pub(crate) fn hash_short_text(payload: u64) -> u64 {
    combine(type_index::STR, hash_word(payload))
}

/// Returns the hash of a string that is stored in an object.
#[inline(always)]
pub(crate) fn hash_long_text(text: &AnyView<'_>) -> u64 {
    prefetch_text(text);
    hash_content_as_string(text.content_of_object().unwrap_or(b""))
}

#[inline(never)]
fn hash_content_as_string(content: &[u8]) -> u64 {
    combine(type_index::STR, hash_bytes(content))
}

#[inline(never)]
fn hash_rare(key: &AnyView<'_>) -> Result<u64> {
    let (type_index, content) = match key.type_index() {
        type_index::SMALL_BYTES => (type_index::BYTES, hash_word(key.payload_bits())),
        type_index::BYTES => (type_index::BYTES, hash_bytes(key.bytes_of_bytes().unwrap_or(b""))),
        type_index::BIG_INT => (type_index::BIG_INT, hash_big_int(*key)),
        other => (other, HASH_HOOKS.call(&[*key])?.unwrap_or_else(|| key.payload_bits())),
    };
    Ok(combine(type_index, content))
}

/// Returns `true` if hashing keys of this type calls a registered hook.
pub(crate) fn has_hash_hook(type_index: i32) -> bool {
    !matches!(type_index, i32::MIN..=type_index::BYTES | type_index::BIG_INT)
        && HASH_HOOKS.get(type_index).is_some()
}

/// Returns `false` if hashing a key, and comparing it with keys of any type, certainly calls no
/// registered hook.
#[inline]
pub(crate) fn may_call_hooks(key: &AnyView<'_>) -> bool {
    // One comparison on the fast paths: big integers, which have no hooks, count as if they had.
    key.type_index() > type_index::BYTES
}

fn hash_big_int(key: AnyView<'_>) -> u64 {
    BigInt::try_from_view(key).ok().flatten().map_or(0, |value| hash_words(&value))
}

/// Returns the hash of a big integer, computed from its words like a string hash.
pub(crate) fn hash_words(value: &BigInt) -> u64 {
    value.words().iter().fold(0, |result, word| hash_step(result, *word as u64))
}

/// Returns the string hash of bytes, which processes eight bytes at a time and pads the last word
/// with zeros.
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
        tail => hash_step(result, words::pack_last(bytes, tail.len())),
    }
}

/// Returns the string hash of up to seven bytes, given as a payload word.
fn hash_word(word: u64) -> u64 {
    modulo(u64::from_le_bytes(word.to_ne_bytes()))
}

/// Mixes the next word of a string into its hash.
fn hash_step(result: u64, word: u64) -> u64 {
    modulo(result.wrapping_mul(MULTIPLIER).wrapping_add(word))
}

/// Reduces a number modulo [`MODULUS`]. Since the modulus is 2^31 - 1, the high bits are added to
/// the low 31 bits.
fn modulo(number: u64) -> u64 {
    let folded = (number & MODULUS) + (number >> 31);
    let rest = (folded & MODULUS) + (folded >> 31);
    if rest >= MODULUS { rest - MODULUS } else { rest }
}

/// Mixes a 64-bit hash into a type index.
pub(super) fn combine(type_index: i32, value: u64) -> u64 {
    let seed = type_index as u64;
    seed ^ value.wrapping_add(0x9e37_79b9).wrapping_add(seed << 6).wrapping_add(seed >> 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrite_core::value::any::Any;
    use ferrite_core::value::string::{Bytes, String};

    fn text(value: &str) -> Result<Any> {
        Ok(Any::new(String::new(value)?))
    }

    #[test]
    fn hashes_are_upstreams() -> Result<()> {
        assert_eq!(hash(&AnyView::from(5i64))?, 2_654_435_839);
        assert_eq!(hash(&text("abc")?.view())?, 2_660_953_131);
        assert_eq!(hash(&text("abcdefgh")?.view())?, 3_546_921_335);
        assert_eq!(hash(&text("abcdefghijk")?.view())?, 3_880_220_895);
        assert_eq!(hash(&Any::new(Bytes::new(b"abc")?).view())?, 2_660_953_320);
        assert_eq!(hash(&AnyView::from(1.5f64))?, 4_609_434_221_268_138_618);
        assert_eq!(hash(&AnyView::NONE)?, 2_654_435_769);
        assert_eq!(hash(&AnyView::from(true))?, 2_654_435_896);
        Ok(())
    }

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
