//! Storage of strings and bytes: short content inline in the value, longer content in an object.

use core::ffi::{c_int, c_void};
use core::mem::{MaybeUninit, size_of};
use core::ptr;

use super::{LARGE_OFFSET, SMALL_MAX};
use crate::abi::{TVMFFIAny, TVMFFIAnyPayload, TVMFFIByteArray, TVMFFIObject, type_index};
use crate::error::Result;
use crate::object::ObjectRef;
use crate::object::free::LEAF_DELETER;
use crate::object::object_alloc::{self, ObjectRecord, Space};
use crate::platform::words;

/// Record of a string or bytes object: the byte array that C code reads. The content and a NUL
/// follow it inline.
#[repr(C)]
pub(super) struct BytesRecord {
    header: TVMFFIObject,
    pub(super) array: TVMFFIByteArray,
}

const _: () = assert!(size_of::<BytesRecord>() == 24 + 2 * size_of::<usize>());

// SAFETY: repr(C), header first.
unsafe impl ObjectRecord for BytesRecord {
    const DELETER: unsafe extern "C" fn(*mut c_void, c_int) = LEAF_DELETER;

    unsafe fn destroy(_: *mut TVMFFIObject) {}
}

/// Writes a string or bytes value with a copy of `content` to `cell`. `content` may lie in the cell
/// itself. `small_index` is the type index of the inline representation.
///
/// # Safety
/// The content must be readable, and the cell writable.
#[inline(always)]
pub(super) unsafe fn write_copy(
    cell: *mut TVMFFIAny,
    small_index: i32,
    content: *const [u8],
) -> Result<()> {
    if WIDE && content.len() <= SMALL_MAX {
        // SAFETY: the caller guarantees the content, which is copied before the cell is written.
        let word = unsafe { words::pack_last(&*content, content.len()) };
        let payload = TVMFFIAnyPayload { v_bytes: word.to_le_bytes() };
        let small_str_len = content.len() as u32;
        // SAFETY: the caller guarantees the cell.
        unsafe { cell.write(TVMFFIAny { type_index: small_index, small_str_len, payload }) };
        return Ok(());
    }
    let len = content.len();
    if WIDE {
        let init = |record: *mut BytesRecord| {
            // SAFETY: the allocation has space for the record, the content and a NUL; the caller
            // guarantees the content.
            unsafe { ptr::copy_nonoverlapping(content.cast(), fill(record, len), len) };
        };
        // SAFETY: init fills the record, which needs no destruction; the caller guarantees the
        // cell, which is written last.
        unsafe {
            let index = small_index + LARGE_OFFSET;
            let object = object_alloc::allocate(index, len.saturating_add(1), init)?;
            cell.write(object.into_any().into_raw());
        }
        return Ok(());
    }
    let mut value = MaybeUninit::uninit();
    let text = reserve(&mut value, small_index, len)?;
    // SAFETY: the reserved bytes are as long as the content, do not overlap it, and complete the
    // value; the caller guarantees the cell, which is written last.
    unsafe {
        ptr::copy_nonoverlapping(content.cast(), text, len);
        cell.write(value.assume_init());
    }
    Ok(())
}

/// Whether the two representations are written apart, and short content as a word. Size-optimised
/// builds share the code.
const WIDE: bool = cfg!(feature = "speed");

/// Writes a value of `len` zero bytes to `cell`, then calls `write` to fill them.
pub(super) fn write_with(
    cell: &mut MaybeUninit<TVMFFIAny>,
    small_index: i32,
    len: usize,
    write: impl FnOnce(&mut [u8]),
) -> Result<()> {
    let room = reserve(cell, small_index, len)?;
    // SAFETY: `len` bytes are reserved, and the value is not shared yet.
    unsafe {
        ptr::write_bytes(room, 0, len);
        write(core::slice::from_raw_parts_mut(room, len));
    }
    Ok(())
}

/// Allocates a string object in `space` and copies `content` into it.
pub(super) fn object_in(space: &mut impl Space, content: &[u8]) -> Result<ObjectRef> {
    let init = |record: *mut BytesRecord| {
        // SAFETY: the allocation has space for the record, the content and a NUL.
        unsafe {
            ptr::copy_nonoverlapping(content.as_ptr(), fill(record, content.len()), content.len())
        };
    };
    // SAFETY: init fills the record, which needs no destruction.
    unsafe {
        object_alloc::allocate_in(space, type_index::STR, content.len().saturating_add(1), init)
    }
}

/// Writes a value of `len` uninitialised bytes to `cell`. Returns the address of the bytes, which
/// is in the cell or in a new object.
#[inline]
fn reserve(cell: &mut MaybeUninit<TVMFFIAny>, small_index: i32, len: usize) -> Result<*mut u8> {
    if len <= SMALL_MAX {
        let payload = TVMFFIAnyPayload { v_uint64: 0 };
        let cell =
            cell.write(TVMFFIAny { type_index: small_index, small_str_len: len as u32, payload });
        return Ok((&raw mut cell.payload).cast());
    }
    let mut content = ptr::null_mut();
    let init = |record: *mut BytesRecord| {
        // SAFETY: the allocation has space for the record, the content and a NUL.
        unsafe { content = fill(record, len) };
    };
    // SAFETY: init fills the record, which needs no destruction; string and bytes objects share
    // this layout (ABI).
    let object =
        unsafe { object_alloc::allocate(small_index + LARGE_OFFSET, len.saturating_add(1), init)? };
    cell.write(object.into_any().into_raw());
    Ok(content)
}

/// Initialises a record except for its header and content. Returns the address of the content.
///
/// # Safety
/// The record must be new, and `len` bytes and one more must follow it.
#[inline(always)]
unsafe fn fill(record: *mut BytesRecord, len: usize) -> *mut u8 {
    // SAFETY: the caller guarantees the space.
    unsafe {
        let content = record.add(1).cast::<u8>();
        (&raw mut (*record).array).write(TVMFFIByteArray { data: content.cast(), size: len });
        content.add(len).write(0);
        content
    }
}
