//! Strings and bytes: up to seven in the value, more in an object.

use super::pool::{Pool, Slot};
use super::refusal::{Refusal, refuse};
use super::{Result, text};
use crate::abi::{TVMFFIAny, TVMFFIByteArray, TVMFFIObject};
use crate::config;
use crate::type_index::{BYTES, SMALL_BYTES, SMALL_STR, STR};

/// A string or bytes object, its content, and a zero behind it.
#[repr(C)]
struct StringSlot {
    header: TVMFFIObject,
    content: TVMFFIByteArray,
    text: [u8; config::STRING_BYTES + 1],
}

// SAFETY: it starts with the header.
unsafe impl Slot for StringSlot {}

static POOL: Pool<StringSlot, { config::STRINGS }> = Pool::new();

/// Whether a value is text or bytes: what is added to the type indices of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Kind {
    /// `SMALL_STR` or `STR`.
    Text = 0,
    /// `SMALL_BYTES` or `BYTES`.
    Bytes = 1,
}

const _: () = assert!(SMALL_BYTES == SMALL_STR + 1 && BYTES == STR + 1);

const MOST_IN_PLACE: usize = 7;

/// Makes a value, which the caller owns, in `out`.
///
/// # Errors
/// MemoryError when it is longer than `FERRITE_STRING_BYTES`, or `FERRITE_STRINGS` are alive.
///
/// # Safety
/// `out` is valid for writing.
///
/// # Upstream
/// `TVMFFIStringFromByteArray`, `TVMFFIBytesFromByteArray`.
pub unsafe fn create(content: &[u8], kind: Kind, out: *mut TVMFFIAny) -> Result<()> {
    let len = content.len();
    // SAFETY: the caller vouches for `out`; either place has room, behind a slot's content for a zero too.
    unsafe {
        if len <= MOST_IN_PLACE {
            out.write(TVMFFIAny {
                type_index: SMALL_STR + kind as i32,
                small_str_len: len as u32,
                ..TVMFFIAny::NONE
            });
            text::copy(content, (&raw mut (*out).payload).cast());
            return Ok(());
        }
        if len > config::STRING_BYTES {
            return Err(refuse(Refusal::StringBytes));
        }
        let slot = POOL.claim(STR + kind as i32);
        if slot.is_null() {
            return Err(refuse(Refusal::Strings));
        }
        let place = (&raw mut (*slot).text).cast::<u8>();
        (*slot).content = TVMFFIByteArray { data: place.cast(), size: len };
        *place.add(len) = 0;
        text::copy(content, place);
        *out = TVMFFIAny { type_index: STR + kind as i32, ..TVMFFIAny::NONE };
        (*out).payload.v_obj = slot.cast();
    }
    Ok(())
}
