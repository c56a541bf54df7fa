//! Strings and bytes: up to seven in the value, more in an object.

use super::pool::{ObjectPool, PoolObject};
use super::refusal::{Refusal, Result};
use super::text;
use crate::abi::{TVMFFIAny, TVMFFIByteArray, TVMFFIObject};
use crate::config;
use crate::type_index::{BYTES, SMALL_BYTES, SMALL_STR, STR};

/// A string or bytes object, its content, and a zero behind it.
#[repr(C, align(8))]
struct StringObject {
    header: TVMFFIObject,
    content: TVMFFIByteArray,
    text: [u8; config::STRING_BYTES + 1],
}

// SAFETY: it starts with the header.
unsafe impl PoolObject for StringObject {}

static POOL: ObjectPool<StringObject, { config::STRINGS }> = ObjectPool::new();

/// Whether a value is text or bytes: the type index of few of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum StringKind {
    /// `SMALL_STR` or `STR`.
    Text = SMALL_STR,
    /// `SMALL_BYTES` or `BYTES`.
    Bytes = SMALL_BYTES,
}

const _: () = assert!(BYTES - SMALL_BYTES == STR - SMALL_STR);

const MOST_IN_PLACE: usize = 7;

/// Makes a value, which the caller owns, in `out`.
///
/// # Errors
/// MemoryError when it is longer than `FERRITE_STRING_BYTES`, or `FERRITE_STRINGS` are alive.
///
/// # Safety
/// The input is readable; `out` is valid for writing.
///
/// # Upstream
/// `TVMFFIStringFromByteArray`, `TVMFFIBytesFromByteArray`.
#[inline(always)]
pub unsafe fn create(input: &TVMFFIByteArray, kind: StringKind, out: *mut TVMFFIAny) -> Result<()> {
    // SAFETY: the caller vouches for both places; either place has room, behind a slot's content for a zero too.
    unsafe {
        let TVMFFIByteArray { data, size } = *input;
        let mut payload = TVMFFIAny::NONE.payload;
        let mut place = (&raw mut payload).cast::<u8>();
        let (mut type_index, mut len) = (kind as i32, size as u32);
        if size > MOST_IN_PLACE {
            if size > config::STRING_BYTES {
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
        // Last: the input may lie there.
        out.write(TVMFFIAny { type_index, small_str_len: len, payload });
    }
    Ok(())
}
