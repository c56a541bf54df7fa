//! Strings and bytes: up to seven bytes in the value, more in a new object.

use super::{Reference, plain};
use crate::state;
use ferrite_core::abi::{TVMFFIAny, TVMFFIAnyPayload, TVMFFIByteArray, type_index};
use pyo3_ffi::*;

/// The most bytes in a value.
const SMALL: usize = 7;

/// Converts a string to UTF-8. Returns `None` for one that has no UTF-8, such as lone surrogates.
///
/// # Safety
/// The extension must be active, the lock held, and `object` must be a string; `out` must be valid
/// for writes.
#[inline(always)]
pub unsafe fn convert(object: *mut PyObject, out: *mut TVMFFIAny) -> Option<Reference> {
    let mut size: Py_ssize_t = 0;
    // SAFETY: the object is a string.
    let data = unsafe { PyUnicode_AsUTF8AndSize(object, &mut size) };
    if data.is_null() {
        // SAFETY: upstream's conversion raises the same error again.
        unsafe { PyErr_Clear() };
        return None;
    }
    // SAFETY: the string owns `size` bytes at `data`.
    unsafe {
        from_bytes(
            data.cast(),
            size as usize,
            out,
            (type_index::SMALL_STR, state::get().library.string),
        )
    }
}

/// Converts an exact bytes object.
///
/// # Safety
/// The extension must be active, the lock held, and `object` must be a bytes object; `out` must be
/// valid for writes.
#[inline(always)]
pub unsafe fn convert_bytes(object: *mut PyObject, out: *mut TVMFFIAny) -> Option<Reference> {
    // SAFETY: the object is a bytes object, which owns that many bytes.
    unsafe {
        let (data, size) = (PyBytes_AsString(object), PyBytes_Size(object) as usize);
        from_bytes(data.cast(), size, out, (type_index::SMALL_BYTES, state::get().library.bytes))
    }
}

/// Makes a value of an object.
type Make = unsafe extern "C" fn(*const TVMFFIByteArray, *mut TVMFFIAny) -> core::ffi::c_int;

/// Copies bytes into the value, or into a new object. Returns `None` without memory for it.
///
/// # Safety
/// The extension must be active, and `data` must point to `size` bytes; `out` must be valid for
/// writes.
#[inline(always)]
unsafe fn from_bytes(
    data: *const u8,
    size: usize,
    out: *mut TVMFFIAny,
    (small, make): (i32, Make),
) -> Option<Reference> {
    if size <= SMALL {
        // SAFETY: there are `size` bytes.
        let bytes = unsafe { small_bytes(data, size) };
        let value = TVMFFIAny {
            small_str_len: size as u32,
            ..plain(small, TVMFFIAnyPayload { v_bytes: bytes })
        };
        // SAFETY: as the caller guarantees.
        unsafe { out.write(value) };
        return Some(Reference::Borrowed);
    }
    let content = TVMFFIByteArray { data: data.cast(), size };
    // SAFETY: the library writes an owned value.
    unsafe {
        out.write(crate::call::NONE);
        // Upstream's conversion fails in the same way, and reports it.
        if make(&content, out) != 0 { None } else { Some(Reference::Owned) }
    }
}

/// Copies at most seven bytes, without a call of `memcpy`. The rest is zero.
///
/// # Safety
/// `data` must point to `size` bytes, and `size` must be at most `SMALL`.
#[inline(always)]
unsafe fn small_bytes(data: *const u8, size: usize) -> [u8; 8] {
    let at = |word: u64, offset: usize| word << (8 * offset);
    // SAFETY: the offsets are below `size`. Words and bytes that overlap agree.
    let word = unsafe {
        let four = |offset: usize| u32::from_le_bytes(data.add(offset).cast::<[u8; 4]>().read());
        let one = |offset: usize| at((*data.add(offset)).into(), offset);
        match size {
            0 => 0,
            1..=3 => one(0) | one(size / 2) | one(size - 1),
            _ => u64::from(four(0)) | at(four(size - 4).into(), size - 4),
        }
    };
    word.to_le_bytes()
}
