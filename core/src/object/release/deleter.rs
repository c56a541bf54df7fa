//! Calls of deleters.

use core::ffi::c_int;

use crate::abi::TVMFFIObject;

/// Calls the deleter of an object, if it has one.
///
/// # Safety
/// The object must be in the state that `flags` describe, and the caller must own it.
pub(super) unsafe fn call_deleter(object: *mut TVMFFIObject, flags: c_int) {
    // SAFETY: the header is readable until the deleter frees the memory; the slot holds a function
    // or null (ABI).
    unsafe {
        if let Some(deleter) = (*object).deleter.deleter {
            deleter(object.cast(), flags);
        }
    }
}
