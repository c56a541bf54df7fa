//! Symbols of the header section "Type reflection": type indices, type registration, attribute
//! columns and type information.

use core::ffi::c_int;

use ferrite_core::abi::{
    TVMFFIAny, TVMFFIByteArray, TVMFFIFieldInfo, TVMFFIMethodInfo, TVMFFITypeAttrColumn,
    TVMFFITypeInfo, TVMFFITypeMetadata,
};
use ferrite_core::names::type_table;
use ferrite_core::names::type_table::{AttrColumn, NewTypeRequest};
use ferrite_core::plain_bail;
use ferrite_core::value::any::AnyView;

use crate::boundary::{self, arg};

/// Finds the index of a registered type by its key.
///
/// Returns 0 and stores the index in `out_tindex`. Returns -1 with InternalError raised if no type
/// has the key.
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
            (
                boundary::bytes(type_key, arg(1, "type_key"))?,
                boundary::out(out_tindex, arg(2, "out_tindex"))?,
            )
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
/// Strings are copied, and a default value is retained. Returns 0, or -1 with an error raised:
/// InternalError for an unknown type or a duplicate field name, ValueError for an empty name,
/// TypeError for a setter that is flagged as a function object but is not a function, or
/// MemoryError. Registering a field that the library itself provides has no effect.
///
/// # Safety
/// Getter and setter must be valid for that field in every object of the type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFITypeRegisterField(
    type_index: i32,
    info: *const TVMFFIFieldInfo,
) -> c_int {
    boundary::status(|| {
        // SAFETY: contract of the crate.
        let info = unsafe { boundary::reference(info, arg(2, "info"))? };
        // SAFETY: the caller guarantees the pointers in the record.
        unsafe { type_table::register_field(type_index, info) }
    })
}

/// Adds a method to a registered type.
///
/// Strings are copied; the function is retained. Returns 0, or -1 with an error raised:
/// InternalError for an unknown type, ValueError for an empty name, or MemoryError. Registering a
/// method that the library itself provides has no effect.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFITypeRegisterMethod(
    type_index: i32,
    info: *const TVMFFIMethodInfo,
) -> c_int {
    boundary::status(|| {
        // SAFETY: contract of the crate.
        let info = unsafe { boundary::reference(info, arg(2, "info"))? };
        // SAFETY: the caller guarantees the pointers in the record.
        unsafe { type_table::register_method(type_index, info) }
    })
}

/// Sets the metadata of a registered type. It can be set only once; setting the same metadata again
/// has no effect.
///
/// Strings are copied. Returns 0, or -1 with an error raised: InternalError for an unknown type,
/// RuntimeError if the type has different metadata, or MemoryError.
///
/// # Safety
/// The creator function must create objects of the type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFITypeRegisterMetadata(
    type_index: i32,
    metadata: *const TVMFFITypeMetadata,
) -> c_int {
    boundary::status(|| {
        // SAFETY: contract of the crate.
        let metadata = unsafe { boundary::reference(metadata, arg(2, "metadata"))? };
        // SAFETY: the caller guarantees the pointers in the record.
        unsafe { type_table::register_metadata(type_index, metadata) }
    })
}

/// Sets an attribute of a registered type, for lookup by `TVMFFIGetTypeAttrColumn`.
///
/// The value is retained. Returns 0, or -1 with an error raised: InternalError for an unknown type,
/// RuntimeError if the type already has the attribute, or MemoryError. Registering an attribute
/// that the library itself provides has no effect.
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
        // SAFETY: contract of the crate: an address is a hook of the attribute.
        unsafe { type_table::register_attr_unchecked(type_index, name, value) }
    })
}

/// Returns the column of an attribute: an array of the attribute's values for consecutive type
/// indices, beginning with `begin_index`. Returns null if no type has the attribute.
///
/// The column lives as long as the process. Its array may be reallocated when types are registered,
/// so do not cache `data` across registrations.
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

/// Registers a type, or finds it if its key is registered already.
///
/// - `static_type_index`: the index of a built-in type, or -1 to allocate an index at run time.
/// - `type_depth`: the number of ancestors, one more than the parent's.
/// - `num_child_slots`: number of indices to reserve for child types directly after the type's own
///   index, so that an instance check is a range check.
/// - `child_slots_can_overflow`: whether the type may have more child types than reserved indices;
///   0 forbids it.
/// - `parent_type_index`: index of the parent type; -1 for a root type; -2 to look up the key
///   without registering it.
///
/// Returns the type index. Returns -2 if a lookup finds no type. Returns -1 with an error raised
/// and logged if the type conflicts with a registered one, an argument is invalid, or memory is
/// exhausted.
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

/// Returns the type information of a registered type. Returns null and logs a warning if the index
/// is not registered.
///
/// The type information lives as long as the process. Its field and method tables grow as fields
/// and methods are registered.
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

/// Slow path of [`TVMFFIGetTypeInfo`]: registers the library's own types if needed, then looks up
/// the type again.
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
