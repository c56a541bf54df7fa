//! Storage of strings and bytes in a kernel library: short content inline in the value, longer
//! content in an object that the loaded `libtvm_ffi` creates, since its code outlives the kernel
//! library.

use core::mem::MaybeUninit;

use super::SMALL_MAX;
use crate::abi::{TVMFFIAny, TVMFFIAnyPayload, TVMFFIByteArray, client, type_index};
use crate::error;
use crate::error::{Result, raised_error};
use crate::object::ObjectRef;
use crate::object::object_alloc::Space;
use crate::platform::memory::Buffer;
use crate::value::any::Any;

/// Writes a string or bytes value with a copy of `content` to `cell`. `content` may lie in the cell
/// itself. `small_index` is the type index of the inline representation.
///
/// # Safety
/// The content must be readable, and the cell writable.
pub(super) unsafe fn write_copy(
    cell: *mut TVMFFIAny,
    small_index: i32,
    content: *const [u8],
) -> Result<()> {
    // SAFETY: the caller guarantees the content.
    let value = match unsafe { small(small_index, &*content) } {
        Some(value) => value,
        // SAFETY: as above.
        None => large(small_index, unsafe { &*content })?,
    };
    // SAFETY: the caller guarantees the cell.
    unsafe { cell.write(value.into_raw()) };
    Ok(())
}

/// Creates a string object with a copy of `content`, which is too long for a small string. Ignores
/// the space, since the loaded library allocates the object.
pub(super) fn object_in(_: &mut impl Space, content: &[u8]) -> Result<ObjectRef> {
    let value = large(type_index::SMALL_STR, content)?;
    value.into_object().map_err(|_| error::out_of_memory(content.len()))
}

/// Writes a value of `len` zero bytes to `cell`, then calls `write` to fill them.
pub(super) fn write_with(
    cell: &mut MaybeUninit<TVMFFIAny>,
    small_index: i32,
    len: usize,
    write: impl FnOnce(&mut [u8]),
) -> Result<()> {
    let mut content = Buffer::<u8>::new();
    content.try_resize(len, 0)?;
    write(&mut content);
    // SAFETY: the content is ours, and the cell is borrowed.
    unsafe { write_copy(cell.as_mut_ptr(), small_index, &*content) }
}

/// Returns `content` as an inline value, or `None` if it is too long.
fn small(type_index: i32, content: &[u8]) -> Option<Any> {
    let mut v_bytes = [0; 8];
    v_bytes[..SMALL_MAX].get_mut(..content.len())?.copy_from_slice(content);
    let raw = TVMFFIAny {
        type_index,
        small_str_len: content.len() as u32,
        payload: TVMFFIAnyPayload { v_bytes },
    };
    // SAFETY: a small string or small bytes cell points to nothing.
    Some(unsafe { Any::from_raw(raw) })
}

fn large(small_index: i32, content: &[u8]) -> Result<Any> {
    let array = TVMFFIByteArray::from_slice(content);
    let mut raw = Any::NONE.into_raw();
    // SAFETY: the array and the out-pointer are valid for the call; the result is owned here.
    unsafe {
        let status = if small_index == type_index::SMALL_STR {
            client::TVMFFIStringFromByteArray(&array, &mut raw)
        } else {
            client::TVMFFIBytesFromByteArray(&array, &mut raw)
        };
        if status != 0 {
            return Err(raised_error::take().unwrap_or_else(|| error::out_of_memory(content.len())));
        }
        Ok(Any::from_raw(raw))
    }
}
