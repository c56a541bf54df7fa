//! Section "Basic object API".

use core::ffi::c_int;

use ferrite_core::abi::{
    TVM_FFI_VERSION_MAJOR, TVM_FFI_VERSION_MINOR, TVM_FFI_VERSION_PATCH, TVMFFIObject, TVMFFIObjectHandle,
    TVMFFIVersion,
};
use ferrite_core::minimal::{self, Refusal};
use ferrite_core::refcount;

use super::boundary;

/// Tells the version of the ABI.
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

/// Adds a strong reference to an object.
///
/// # Safety
/// See the crate.
// A second copy of its loop would make a function of both loops, which takes four instructions more.
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

/// Gives up a strong reference to an object, whose deleter runs at once when it was the last.
///
/// # Safety
/// The caller owns the reference, and does not use it afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFIObjectDecRef(obj: TVMFFIObjectHandle) -> c_int {
    if obj.is_null() {
        return boundary::fail(Refusal::ARGUMENT);
    }
    // SAFETY: a handle points to a live object, one reference of which the caller gives up.
    unsafe { minimal::release(obj.cast::<TVMFFIObject>()) };
    0
}
