//! Symbols of the header section "Basic object API": version, reference counts, opaque objects.

use core::ffi::{c_int, c_void};
use core::hint::black_box;
use core::ptr;

use ferrite_core::abi::{
    TVM_FFI_VERSION_MAJOR, TVM_FFI_VERSION_MINOR, TVM_FFI_VERSION_PATCH, TVMFFIObject,
    TVMFFIObjectHandle, TVMFFIVersion,
};
use ferrite_core::object::{refcount, release};
use ferrite_core::value::opaque;

use crate::boundary::{self, SUCCESS, arg};

/// Writes the ABI version to `out_version`. This function has the same signature and behaviour in
/// every version of the library.
///
/// Does nothing if `out_version` is null.
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
/// Returns 0, or -1 with ValueError raised if `obj` is null. Allocates nothing.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFIObjectIncRef(obj: TVMFFIObjectHandle) -> c_int {
    if obj.is_null() {
        return refuse_null();
    }
    // SAFETY: a handle points to a live object.
    unsafe { refcount::retain(obj.cast::<TVMFFIObject>()) };
    SUCCESS
}

/// Releases a strong reference to an object, which is destroyed with the last one.
///
/// Returns 0, or -1 with ValueError raised if `obj` is null. Long chains of objects are released
/// without deep recursion: beyond 32 nested destructions on this thread (beyond one in
/// size-optimised builds), an object is destroyed later, before the outermost destruction ends. A
/// deleter at that depth must not rely on the destruction of the objects that it releases.
///
/// # Safety
/// The caller must own the reference, and must not use it afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFIObjectDecRef(obj: TVMFFIObjectHandle) -> c_int {
    if obj.is_null() {
        return refuse_null();
    }
    // SAFETY: a handle points to a live object, to which the caller transfers a reference.
    unsafe { release::release_inline(obj.cast::<TVMFFIObject>()) }
}

/// Raises ValueError for a null `obj`. Never inlined, so that callers tail-call it and need no
/// stack frame.
#[cold]
#[inline(never)]
extern "C" fn refuse_null() -> c_int {
    black_box(boundary::status(|| {
        boundary::non_null::<TVMFFIObject>(ptr::null(), arg(1, "obj")).map(drop)
    }))
}

/// Creates an object that owns a resource of another language, such as a Python object.
///
/// The object owns `handle`, and calls `deleter` with it when it is destroyed. `deleter` may be
/// null. On failure, the caller still owns `handle`. The only type index supported so far is
/// `kTVMFFIOpaquePyObject`.
///
/// Returns 0 and stores the new object, owned by the caller, in `out`. On failure, returns -1 with
/// an error raised: RuntimeError for an unsupported type index, ValueError for a null pointer, or
/// MemoryError.
///
/// # Safety
/// `deleter` must be callable on any thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFIObjectCreateOpaque(
    handle: *mut c_void,
    type_index: i32,
    deleter: Option<unsafe extern "C" fn(handle: *mut c_void)>,
    out: *mut TVMFFIObjectHandle,
) -> c_int {
    boundary::status(|| {
        // SAFETY: contract of the crate.
        let out = unsafe { boundary::out(out, arg(4, "out"))? };
        // SAFETY: the caller transfers `handle` and a deleter that fits it.
        let object = unsafe { opaque::create_opaque(handle, type_index, deleter)? };
        out.write_object(Some(object));
        Ok(())
    })
}
