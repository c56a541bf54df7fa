//! Arbitrary-precision integers: created from words, normalised, and borrowed as words.

use core::ffi::{c_int, c_void};
use core::mem::size_of;
use core::ptr;

use crate::abi::{TVMFFIAny, TVMFFIByteArray, TVMFFIObject, type_index};
use crate::error::Result;
use crate::object::free::LEAF_DELETER;
use crate::object::object_alloc::{self, ObjectRecord};
use crate::value::any::Any;
use crate::{object_class, plain_ensure};

/// Size of a word in bytes.
const WORD_BYTES: usize = size_of::<i64>();

/// The object record of [`BigInt`]. The words follow it, least significant first.
///
/// Public so that objects created by other libraries can be read through it; 32 bytes on every
/// target.
#[repr(C)]
pub struct BigIntRecord {
    /// The object header.
    pub header: TVMFFIObject,
    /// The number of words, at least two.
    pub word_count: usize,
    /// Aligns the words on targets where `usize` is narrower than a word.
    _align: [i64; 0],
}

// i386 alone aligns 64-bit integers to 4 bytes.
#[cfg(not(target_arch = "x86"))]
const _: () = assert!(size_of::<BigIntRecord>() == 32);

// SAFETY: the header comes first, and there is nothing to destroy.
unsafe impl ObjectRecord for BigIntRecord {
    const DELETER: unsafe extern "C" fn(*mut c_void, c_int) = LEAF_DELETER;

    unsafe fn destroy(_this: *mut TVMFFIObject) {}
}

object_class!(
    /// An integer that does not fit 64 bits.
    ///
    /// # Upstream
    /// `tvm::ffi::BigInt` in `big_int.h`.
    pub struct BigInt, type_index::BIG_INT, "ffi.BigInt"
);

impl BigInt {
    /// Borrows the words: two's complement, least significant first. There are at least two.
    pub fn words(&self) -> &[i64] {
        let record: *const BigIntRecord = self.0.as_ptr().cast();
        // SAFETY: the class says that the object is a BigIntRecord with its words behind it,
        // unchanged while referenced.
        unsafe { core::slice::from_raw_parts(record.add(1).cast(), (*record).word_count) }
    }
}

/// Creates an integer value from the words in `content`: an int if it fits 64 bits, otherwise a
/// [`BigInt`].
///
/// Words are two's complement in native byte order, least significant first. An empty `content` is
/// zero. The bytes need no alignment.
///
/// # Examples
/// ```
/// use ferrite_core::value::big_int::{BigInt, from_native_bytes};
///
/// # fn main() -> ferrite_core::Result<()> {
/// let wide = from_native_bytes([1i64, 2].map(i64::to_ne_bytes).as_flattened())?; // 2 * 2^64 + 1
/// assert_eq!(wide.get::<BigInt>()?.words(), [1, 2]);
/// let narrow = from_native_bytes([7i64, 0].map(i64::to_ne_bytes).as_flattened())?;
/// assert_eq!(narrow.get::<i64>()?, 7);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// ValueError if the size of `content` is not a multiple of a word; MemoryError.
///
/// # Upstream
/// `TVMFFIBigIntFromByteArray` in `object.cc`.
pub fn from_native_bytes(content: &[u8]) -> Result<Any> {
    let (words, part) = content.as_chunks();
    plain_ensure!(
        part.is_empty(), VALUE_ERROR, "BigInt content must contain whole 64-bit words";
        "bad size"
    );
    let words = normalized(words);
    if words.len() <= 1 {
        return Ok(Any::from(words.first().map_or(0, |word| i64::from_ne_bytes(*word))));
    }
    let content = words.as_flattened();
    let init = |record: *mut BigIntRecord| {
        // SAFETY: the allocation is a record with room for `content` behind it.
        unsafe {
            (&raw mut (*record).word_count).write(words.len());
            ptr::copy_nonoverlapping(content.as_ptr(), record.add(1).cast(), content.len());
        }
    };
    // SAFETY: `init` writes the one field after the header; the type index is that of this record.
    let object = unsafe { object_alloc::allocate(type_index::BIG_INT, content.len(), init)? };
    Ok(Any::new(BigInt(object)))
}

/// Borrows the words of an int, bool or BigInt value as bytes. Returns an empty byte array for any
/// other value.
///
/// The result points into `value` or into its object, and is valid while both stay unchanged.
///
/// # Safety
/// The object of a BigInt value must be null or a live BigInt.
///
/// # Upstream
/// `TVMFFIBigIntGetContentByteArray` in `object.cc`, which reads every value except an int as a
/// BigInt.
pub unsafe fn content_of(value: &TVMFFIAny) -> TVMFFIByteArray {
    match value.type_index {
        type_index::INT | type_index::BOOL => {
            TVMFFIByteArray { data: (&raw const value.payload).cast(), size: WORD_BYTES }
        }
        type_index::BIG_INT => {
            // SAFETY: the caller guarantees the object.
            unsafe { content_of_object(value.payload.v_obj) }
        }
        _ => TVMFFIByteArray::EMPTY,
    }
}

/// Borrows the words of an object as bytes. Returns an empty byte array if the object is null.
///
/// # Safety
/// `object` must be null or a live BigInt.
unsafe fn content_of_object(object: *const TVMFFIObject) -> TVMFFIByteArray {
    if object.is_null() {
        return TVMFFIByteArray::EMPTY;
    }
    let record: *const BigIntRecord = object.cast();
    // SAFETY: the caller guarantees the record and the words behind it.
    unsafe {
        TVMFFIByteArray {
            data: record.add(1).cast(),
            size: (*record).word_count.saturating_mul(WORD_BYTES),
        }
    }
}

/// Drops redundant trailing words, which only repeat the sign of the word before them.
fn normalized(mut words: &[[u8; WORD_BYTES]]) -> &[[u8; WORD_BYTES]] {
    while let [rest @ .., last] = words
        && let [.., before] = rest
        && i64::from_ne_bytes(*last) == i64::from_ne_bytes(*before) >> (i64::BITS - 1)
    {
        words = rest;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn bytes(words: &[i64]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_ne_bytes()).collect()
    }

    fn import(words: &[i64]) -> Result<Any> {
        from_native_bytes(&bytes(words))
    }

    #[test]
    fn what_fits_64_bits_becomes_an_int() -> Result<()> {
        assert_eq!(import(&[])?.get::<i64>()?, 0);
        assert_eq!(import(&[7])?.get::<i64>()?, 7);
        assert_eq!(import(&[-7, -1, -1])?.get::<i64>()?, -7);
        assert_eq!(import(&[5, 0, 0])?.get::<i64>()?, 5);
        assert_eq!(import(&[i64::MIN, -1])?.get::<i64>()?, i64::MIN);
        Ok(())
    }

    #[test]
    fn a_word_that_guards_the_sign_stays() -> Result<()> {
        for words in [[-1, 0], [7, -1], [0, 1]] {
            let value = import(&words)?;
            assert_eq!(value.type_index(), type_index::BIG_INT);
            assert_eq!(value.get::<BigInt>()?.words(), words);
        }
        assert_eq!(import(&[1, 2, 0, 0])?.get::<BigInt>()?.words(), [1, 2]);
        Ok(())
    }

    #[test]
    fn half_a_word_is_refused() {
        let error = from_native_bytes(&[0; 12]).map(|_| ()).unwrap_err();
        assert_eq!(error.kind_bytes(), b"ValueError");
    }

    #[test]
    fn words_are_lent_in_place() -> Result<()> {
        for words in [&[42][..], &[1, 2, 3][..]] {
            let value = import(words)?;
            // SAFETY: the value is alive and owns its object.
            let content = unsafe { content_of(value.as_raw()).as_slice() };
            assert_eq!(content, bytes(words));
        }
        // SAFETY: None holds no object.
        assert_eq!(unsafe { content_of(&TVMFFIAny::NONE) }.size, 0);
        Ok(())
    }
}
