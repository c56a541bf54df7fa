//! The class `tvm::ffi::Error`: its exception objects, virtual table and typeinfo.

use core::ffi::{c_char, c_void};
use core::mem::ManuallyDrop;
use core::ptr::NonNull;

use ferrite_core::abi::TVMFFIObject;
use ferrite_core::error::Error;
use ferrite_core::object::{ObjectClass, ObjectRef};

use super::class_info::{
    BasesTypeInfo, CLASS, CLASS_WITH_BASES, Constant, TypeInfo, VirtualTable, info, public_base,
};

/// An exception object, in the layout of `tvm::ffi::Error`.
#[repr(C)]
pub(super) struct Exception {
    pub vptr: *const c_void,
    /// Owned error object; null if the exception was moved from.
    pub error: *mut TVMFFIObject,
}

unsafe extern "C" {
    #[link_name = "_ZdlPv"]
    fn operator_delete(memory: *mut Exception);
    #[link_name = "_ZTISt9exception"]
    static STD_EXCEPTION: c_void;
}

static OBJECT_REF_INFO: Constant<TypeInfo> =
    Constant(info(&raw const CLASS, c"N3tvm3ffi9ObjectRefE".as_ptr()));

#[unsafe(export_name = "_ZTSN3tvm3ffi5ErrorE")]
static ERROR_NAME: [u8; 17] = *b"N3tvm3ffi5ErrorE\0";

#[unsafe(export_name = "_ZTIN3tvm3ffi5ErrorE")]
static ERROR_INFO: Constant<BasesTypeInfo<2>> = Constant(BasesTypeInfo {
    info: info(&raw const CLASS_WITH_BASES, (&raw const ERROR_NAME).cast()),
    flags: 0,
    count: 2,
    bases: [
        public_base((&raw const OBJECT_REF_INFO).cast(), 8),
        public_base((&raw const STD_EXCEPTION).cast(), 0),
    ],
});

#[unsafe(export_name = "_ZTVN3tvm3ffi5ErrorE")]
static ERROR_TABLE: Constant<VirtualTable<3>> = Constant(VirtualTable {
    offset_to_top: 0,
    type_info: (&raw const ERROR_INFO).cast(),
    functions: [destroy as *const c_void, destroy_and_free as *const c_void, what as *const c_void],
});

/// Address of the typeinfo of `tvm::ffi::Error`.
pub(super) const ERROR: *const c_void = (&raw const ERROR_INFO).cast();
/// Virtual table pointer of `tvm::ffi::Error` objects.
pub(super) const ERROR_VPTR: *const c_void = (&raw const ERROR_TABLE.0.functions).cast();

/// Complete object destructor of `tvm::ffi::Error`.
///
/// # Safety
/// `this` must be an exception that is not used afterwards.
pub(super) unsafe extern "C" fn destroy(this: *mut Exception) {
    // SAFETY: the caller guarantees the exception, which owns its error.
    drop(unsafe { NonNull::new((*this).error).map(|error| ObjectRef::from_raw(error)) });
}

/// Deleting destructor of `tvm::ffi::Error`, which `delete` calls.
///
/// # Safety
/// Same requirements as [`destroy`]. The exception must have been allocated with `new`.
unsafe extern "C" fn destroy_and_free(this: *mut Exception) {
    // SAFETY: the caller guarantees both.
    unsafe {
        destroy(this);
        operator_delete(this);
    }
}

/// Implements `what()`: returns the message, which lives as long as the error.
///
/// # Safety
/// `this` must be an exception.
unsafe extern "C" fn what(this: *const Exception) -> *const c_char {
    // SAFETY: the caller guarantees the exception.
    let error = NonNull::new(unsafe { (*this).error }).map(|error| {
        // SAFETY: the exception keeps its error alive; nothing is dropped here.
        ManuallyDrop::new(unsafe { Error::from_object_unchecked(ObjectRef::from_raw(error)) })
    });
    match &error {
        // Messages of errors are terminated by a zero (ABI).
        Some(error) if !error.message_bytes().is_empty() => error.message_bytes().as_ptr().cast(),
        _ => c"".as_ptr(),
    }
}
