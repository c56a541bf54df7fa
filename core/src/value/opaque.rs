//! Opaque objects: reference-counted objects that own a foreign handle, which a deleter releases.

use core::ffi::c_void;

use crate::abi::{TVMFFIObject, TVMFFIOpaqueObjectCell, type_index};
use crate::error::Result;
use crate::object::ObjectRef;
use crate::object::object_alloc::{ObjectRecord, allocate};
use crate::{object_class, plain_bail};

object_class!(
    /// A reference to a Python object, which the library keeps alive but never accesses.
    ///
    /// # Upstream
    /// Type index `kTVMFFIOpaquePyObject`.
    pub struct OpaquePyObject, type_index::OPAQUE_PY_OBJECT, "ffi.OpaquePyObject"
);

/// Releases a handle. Called once, on the thread that drops the last reference.
pub type OpaqueDeleter = unsafe extern "C" fn(handle: *mut c_void);

#[repr(C)]
struct OpaqueRecord {
    header: TVMFFIObject,
    cell: TVMFFIOpaqueObjectCell,
    deleter: Option<OpaqueDeleter>,
}

#[cfg(target_pointer_width = "64")]
const _: () = assert!(core::mem::offset_of!(OpaqueRecord, deleter) == 32);
#[cfg(all(target_pointer_width = "32", not(target_arch = "x86")))]
const _: () = assert!(core::mem::offset_of!(OpaqueRecord, deleter) == 28);

// SAFETY: the header comes first; the deleter is called once, when the object is destroyed.
unsafe impl ObjectRecord for OpaqueRecord {
    unsafe fn destroy(this: *mut TVMFFIObject) {
        let this = this.cast::<OpaqueRecord>();
        // SAFETY: the record is alive until its destruction ends, and its creator guaranteed handle
        // and deleter.
        unsafe {
            if let Some(deleter) = (*this).deleter {
                deleter((*this).cell.handle);
            }
        }
    }
}

/// Creates an object that owns `handle`. `deleter` may be null if the handle needs no release.
///
/// On failure the caller still owns the handle.
///
/// # Errors
/// RuntimeError for a `type_index` other than [`type_index::OPAQUE_PY_OBJECT`]; MemoryError.
///
/// # Safety
/// `deleter` must accept `handle` once, on any thread.
///
/// # Upstream
/// `TVMFFIObjectCreateOpaque`.
pub unsafe fn create_opaque(
    handle: *mut c_void,
    type_index: i32,
    deleter: Option<OpaqueDeleter>,
) -> Result<ObjectRef> {
    if type_index != type_index::OPAQUE_PY_OBJECT {
        plain_bail!(
            RUNTIME_ERROR, "Only kTVMFFIOpaquePyObject is supported for now";
            "not opaque"
        );
    }
    let init = |record: *mut OpaqueRecord| {
        // SAFETY: `record` is a fresh object of this type.
        unsafe {
            (*record).cell = TVMFFIOpaqueObjectCell { handle };
            (*record).deleter = deleter;
        }
    };
    // SAFETY: `init` writes every field beside the header.
    unsafe { allocate::<OpaqueRecord>(type_index, 0, init) }
}

impl OpaquePyObject {
    /// Borrows the handle for the lifetime of the reference.
    pub fn handle(&self) -> *mut c_void {
        // SAFETY: every opaque object has its cell after the header (ABI).
        unsafe { (*self.0.as_ptr().add(1).cast::<TVMFFIOpaqueObjectCell>()).handle }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::sync::atomic::{AtomicUsize, Ordering};

    unsafe extern "C" fn count(handle: *mut c_void) {
        // SAFETY: the tests pass a counter as the handle.
        unsafe { &*handle.cast::<AtomicUsize>() }.fetch_add(1, Ordering::Relaxed);
    }

    #[test]
    fn the_handle_is_given_back_once() {
        let deleted = AtomicUsize::new(0);
        let handle = (&raw const deleted).cast_mut().cast();
        // SAFETY: `count` accepts the counter, which outlives the object.
        let object =
            unsafe { create_opaque(handle, type_index::OPAQUE_PY_OBJECT, Some(count)) }.unwrap();
        let twin = object.clone().downcast::<OpaquePyObject>().unwrap();
        assert_eq!(twin.handle(), handle);
        drop(object);
        assert_eq!(deleted.load(Ordering::Relaxed), 0);
        drop(twin);
        assert_eq!(deleted.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn a_null_deleter_is_allowed() {
        // SAFETY: there is no deleter to accept the handle.
        let object =
            unsafe { create_opaque(core::ptr::null_mut(), type_index::OPAQUE_PY_OBJECT, None) };
        assert_eq!(object.unwrap().type_index(), type_index::OPAQUE_PY_OBJECT);
    }

    #[test]
    fn other_types_are_refused() {
        // SAFETY: there is no deleter to accept the handle.
        let error =
            unsafe { create_opaque(core::ptr::null_mut(), type_index::OBJECT, None) }.unwrap_err();
        assert_eq!(error.kind_bytes(), b"RuntimeError");
        assert_eq!(error.message_bytes(), b"Only kTVMFFIOpaquePyObject is supported for now");
    }
}
