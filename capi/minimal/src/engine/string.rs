//! String and bytes values: up to seven bytes inline in the value, more in an object.

use super::capacity;
use super::pool::{ObjectPool, PoolObject};
use super::refusal::{Refusal, Result};
use super::text;
use ferrite_core::abi::type_index::{BYTES, SMALL_BYTES, SMALL_STR, STR};
use ferrite_core::abi::{TVMFFIAny, TVMFFIByteArray, TVMFFIObject};

/// The record of a string or bytes object, with its content and a terminating zero.
#[repr(C, align(8))]
struct StringObject {
    header: TVMFFIObject,
    content: TVMFFIByteArray,
    text: [u8; capacity::STRING_BYTES + 1],
}

// SAFETY: it starts with the header.
unsafe impl PoolObject for StringObject {}

static POOL: ObjectPool<StringObject, { capacity::STRINGS }> = ObjectPool::new();

/// Kind of a value, string or bytes, encoded as the type index of the inline representation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum StringKind {
    /// A string: `SMALL_STR` or `STR`.
    Text = SMALL_STR,
    /// Bytes: `SMALL_BYTES` or `BYTES`.
    Bytes = SMALL_BYTES,
}

const _: () = assert!(BYTES - SMALL_BYTES == STR - SMALL_STR);

const MAX_INLINE: usize = 7;

/// Writes a new string or bytes value to `out`, owned by the caller.
///
/// # Errors
/// MemoryError if the content is longer than `FERRITE_STRING_BYTES`, or if `FERRITE_STRINGS`
/// objects are alive.
///
/// # Safety
/// The input must be readable, and `out` valid for writing.
///
/// # Upstream
/// `TVMFFIStringFromByteArray`, `TVMFFIBytesFromByteArray`.
#[inline(always)]
pub unsafe fn create(input: &TVMFFIByteArray, kind: StringKind, out: *mut TVMFFIAny) -> Result<()> {
    // SAFETY: the caller guarantees input and output; each destination has enough space, in a slot
    // including the terminating zero.
    unsafe {
        let TVMFFIByteArray { data, size } = *input;
        let mut payload = TVMFFIAny::NONE.payload;
        let mut place = (&raw mut payload).cast::<u8>();
        let (mut type_index, mut len) = (kind as i32, size as u32);
        if size > MAX_INLINE {
            if size > capacity::STRING_BYTES {
                return Err(Refusal::STRING_BYTES);
            }
            let Some(slot) = POOL.claim(kind as i32 + (STR - SMALL_STR)) else {
                return Err(Refusal::STRINGS);
            };
            let slot = slot.as_ptr();
            type_index = (*slot).header.type_index;
            len = 0;
            payload.v_obj = slot.cast();
            place = (&raw mut (*slot).text).cast();
            (*slot).content = TVMFFIByteArray { data: place.cast(), size };
            *place.add(size) = 0;
        }
        text::copy(data.cast(), place, size);
        // Written last, since the input may lie in `out`.
        out.write(TVMFFIAny { type_index, small_str_len: len, payload });
    }
    Ok(())
}
