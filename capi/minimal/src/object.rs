//! Symbols of the header section "Basic object API", in the profile `minimal`.

use core::ffi::c_int;

use crate::engine::{self, Refusal};
use ferrite_core::abi::{
    TVM_FFI_VERSION_MAJOR, TVM_FFI_VERSION_MINOR, TVM_FFI_VERSION_PATCH, TVMFFIObject,
    TVMFFIObjectHandle, TVMFFIVersion,
};
use ferrite_core::object::refcount;

use super::boundary;

/// Writes the ABI version to `out_version`.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFIGetVersion(out_version: *mut TVMFFIVersion) {
    if !out_version.is_null() {
        // SAFETY: not null, so valid for writing.
        unsafe {
            out_version.write(TVMFFIVersion {
                major: TVM_FFI_VERSION_MAJOR,
                minor: TVM_FFI_VERSION_MINOR,
                patch: TVM_FFI_VERSION_PATCH,
            });
        }
    }
}

/// Adds a strong reference to an object. Returns 0, or -1 with ValueError raised for null.
///
/// # Safety
/// See the crate.
// Not inlined: with a second copy of the loop, the compiler would merge both into a function that
// takes four instructions more.
#[inline(never)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFIObjectIncRef(obj: TVMFFIObjectHandle) -> c_int {
    if obj.is_null() {
        return boundary::fail(Refusal::ARGUMENT);
    }
    // SAFETY: a handle points to a live object.
    unsafe { refcount::retain(obj.cast::<TVMFFIObject>()) };
    0
}

/// Releases a strong reference to an object. If it was the last one, the object's deleter runs
/// immediately. Returns 0, or -1 with ValueError raised for null.
///
/// # Safety
/// The caller must own the reference, and must not use it afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFIObjectDecRef(obj: TVMFFIObjectHandle) -> c_int {
    if obj.is_null() {
        return boundary::fail(Refusal::ARGUMENT);
    }
    // SAFETY: a handle points to a live object, to which the caller transfers a reference.
    unsafe { engine::release(obj.cast::<TVMFFIObject>()) };
    0
}
