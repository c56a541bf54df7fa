//! Section "Type reflection": type indices, registration, attribute columns, type information.

use core::ffi::c_int;

use ferrite_core::abi::{
    TVMFFIAny, TVMFFIByteArray, TVMFFIFieldInfo, TVMFFIMethodInfo, TVMFFITypeAttrColumn, TVMFFITypeInfo,
    TVMFFITypeMetadata,
};
use ferrite_core::any::AnyView;
use ferrite_core::type_table::{AttrColumn, NewTypeRequest};
use ferrite_core::{plain_bail, type_table};

use crate::boundary::{self, arg};

/// Finds the index of a registered type.
///
/// Returns 0 and the index in `out_tindex`; or -1 with InternalError raised when no type has the key.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFITypeKeyToIndex(
    type_key: *const TVMFFIByteArray,
    out_tindex: *mut i32,
) -> c_int {
    boundary::status(|| {
        // SAFETY: contract of the crate.
        let (key, out) = unsafe {
            (boundary::bytes(type_key, arg(1, "type_key"))?, boundary::out(out_tindex, arg(2, "out_tindex"))?)
        };
        match type_table::key_to_index(key) {
            Some(index) => out.write(index),
            None => plain_bail!(INTERNAL_ERROR, "Cannot find type `{}`", key; "no type `{}`", key),
        }
        Ok(())
    })
}

/// Adds a field to a registered type.
///
/// Texts are copied; a default value is retained. Returns 0, or -1 with an error raised: InternalError (no such type,
/// or a field of that name exists), ValueError (no name), TypeError (a setter that should be a function is none),
/// MemoryError. Registering a field that the library itself provides has no effect.
///
/// # Safety
/// Getter and setter work on the field of any object of the type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFITypeRegisterField(type_index: i32, info: *const TVMFFIFieldInfo) -> c_int {
    boundary::status(|| {
        // SAFETY: contract of the crate.
        let info = unsafe { boundary::reference(info, arg(2, "info"))? };
        // SAFETY: the caller vouches for the pointers in the record.
        unsafe { type_table::register_field(type_index, info) }
    })
}

/// Adds a method to a registered type.
///
/// Texts are copied; the function is retained. Returns 0, or -1 with an error raised: InternalError (no such type),
/// ValueError (no name), MemoryError. Registering a method that the library itself provides has no effect.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFITypeRegisterMethod(type_index: i32, info: *const TVMFFIMethodInfo) -> c_int {
    boundary::status(|| {
        // SAFETY: contract of the crate.
        let info = unsafe { boundary::reference(info, arg(2, "info"))? };
        // SAFETY: the caller vouches for the pointers in the record.
        unsafe { type_table::register_method(type_index, info) }
    })
}

/// Sets the metadata of a registered type, once; setting the same metadata again has no effect.
///
/// Texts are copied. Returns 0, or -1 with an error raised: InternalError (no such type), RuntimeError (the type has other
/// metadata), MemoryError.
///
/// # Safety
/// The creator makes objects of the type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFITypeRegisterMetadata(
    type_index: i32,
    metadata: *const TVMFFITypeMetadata,
) -> c_int {
    boundary::status(|| {
        // SAFETY: contract of the crate.
        let metadata = unsafe { boundary::reference(metadata, arg(2, "metadata"))? };
        // SAFETY: the caller vouches for the pointers in the record.
        unsafe { type_table::register_metadata(type_index, metadata) }
    })
}

/// Sets an attribute of a registered type, which `TVMFFIGetTypeAttrColumn` then finds.
///
/// The value is retained. Returns 0, or -1 with an error raised: InternalError (no such type), RuntimeError (the type
/// has the attribute), MemoryError. Registering an attribute that the library itself provides has no effect.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFITypeRegisterAttr(
    type_index: i32,
    attr_name: *const TVMFFIByteArray,
    attr_value: *const TVMFFIAny,
) -> c_int {
    boundary::status(|| {
        // SAFETY: contract of the crate.
        let (name, value) = unsafe {
            let value = boundary::reference(attr_value, arg(3, "attr_value"))?;
            (boundary::bytes(attr_name, arg(2, "attr_name"))?, AnyView::from_raw(*value))
        };
        type_table::register_attr(type_index, name, value)
    })
}

/// Returns the column of an attribute, which has its value for every type; null if no type has the attribute.
///
/// The column lives as long as the process. Its data may move to a longer array as types register, so do not cache
/// `data` across registrations.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFIGetTypeAttrColumn(
    attr_name: *const TVMFFIByteArray,
) -> *const TVMFFITypeAttrColumn {
    boundary::logged(core::ptr::null(), || {
        // SAFETY: contract of the crate.
        let name = unsafe { boundary::bytes(attr_name, arg(1, "attr_name"))? };
        Ok(type_table::attr_column(name).map_or(core::ptr::null(), AttrColumn::as_ptr))
    })
}

/// Registers a type, or finds it when its key is registered already.
///
/// - `static_type_index`: the index of a built-in type, or -1 for an index allocated at run time.
/// - `type_depth`: the number of ancestors, one more than the parent's.
/// - `num_child_slots`: number of indices directly after the type's own to reserve for its children, so that an
///   instance check is a range check.
/// - `child_slots_can_overflow`: 0 to allow no more children than that.
/// - `parent_type_index`: the parent, -1 for a root, or -2 to only look the key up.
///
/// Returns the index; -2 when a lookup finds nothing; -1 with an error raised and logged when the type contradicts a
/// registered one, a number is invalid, or out of memory.
///
/// # Safety
/// See the crate.
///
/// # Upstream
/// `TVMFFITypeGetOrAllocIndex` in `object.cc`, which ends the process where this returns -1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFITypeGetOrAllocIndex(
    type_key: *const TVMFFIByteArray,
    static_type_index: i32,
    type_depth: i32,
    num_child_slots: i32,
    child_slots_can_overflow: i32,
    parent_type_index: i32,
) -> i32 {
    boundary::logged(-1, || {
        // SAFETY: contract of the crate.
        let type_key = unsafe { boundary::bytes(type_key, arg(1, "type_key"))? };
        type_table::get_or_alloc_index(&NewTypeRequest {
            type_key,
            static_type_index,
            type_depth,
            num_child_slots,
            child_slots_can_overflow: child_slots_can_overflow != 0,
            parent_type_index,
        })
    })
}

/// Returns the record of a registered type; null, with a line in the log, when the index is not registered.
///
/// The record lives as long as the process; its field and method tables grow as they are registered.
///
/// # Upstream
/// `TVMFFIGetTypeInfo` in `object.cc`, which ends the process where this returns null.
///
/// cbindgen:prefix=TVM_FFI_DLL TVM_FFI_ATTRIBUTE_PURE
#[unsafe(no_mangle)]
pub extern "C" fn TVMFFIGetTypeInfo(type_index: i32) -> *const TVMFFITypeInfo {
    let entry = if type_table::is_provided() { type_table::type_info(type_index) } else { None };
    match entry {
        Some(entry) => entry.as_ptr(),
        None => type_info_slow(type_index),
    }
}

/// The slow path of [`TVMFFIGetTypeInfo`]: registers the library's own types first if needed, and looks the type up
/// again.
#[cold]
#[inline(never)]
extern "C" fn type_info_slow(type_index: i32) -> *const TVMFFITypeInfo {
    if !type_table::is_provided() {
        type_table::ensure_provided();
        if let Some(entry) = type_table::type_info(type_index) {
            return entry.as_ptr();
        }
    }
    unknown_type(type_index)
}

#[cold]
fn unknown_type(type_index: i32) -> *const TVMFFITypeInfo {
    ferrite_core::plain_warn!(
        "Cannot find type info for type_index={}", type_index;
        "no type {}", type_index
    );
    core::ptr::null()
}
