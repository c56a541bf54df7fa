//! Reflection records: fields, methods, type metadata, attribute columns and type information.

use super::{TVMFFIAny, TVMFFIByteArray, TVMFFIObjectHandle};
use core::ffi::{c_int, c_void};

/// Reads the field at an address into `result`, which the caller then owns.
///
/// Returns 0, or -1 with an error raised.
pub type TVMFFIFieldGetter =
    unsafe extern "C" fn(field: *mut c_void, result: *mut TVMFFIAny) -> c_int;

/// Writes a borrowed value to the field at an address.
///
/// Returns 0, or -1 with an error raised.
pub type TVMFFIFieldSetter =
    unsafe extern "C" fn(field: *mut c_void, value: *const TVMFFIAny) -> c_int;

/// Creates an object of a type with initial or zero field values. The caller owns `result`.
///
/// Returns 0, or -1 with an error raised.
pub type TVMFFIObjectCreator = unsafe extern "C" fn(result: *mut TVMFFIObjectHandle) -> c_int;

c_enum! {
    /// Bits of `TVMFFIFieldInfo.flags` and `TVMFFIMethodInfo.flags`.
    pub enum TVMFFIFieldFlagBitMask: i32 {
        /// Users may write the field.
        kTVMFFIFieldFlagBitMaskWritable = 1 << 0,
        /// The field has a default, in `default_value_or_factory`.
        kTVMFFIFieldFlagBitMaskHasDefault = 1 << 1,
        /// The method takes no object as first argument.
        kTVMFFIFieldFlagBitMaskIsStaticMethod = 1 << 2,
        /// Structural equality and hashing skip the field.
        kTVMFFIFieldFlagBitMaskSEqHashIgnore = 1 << 3,
        /// The field defines variables by pattern, see `TVMFFIDefRegionKind`.
        kTVMFFIFieldFlagBitMaskSEqHashDefPattern = 1 << 4,
        /// The default is a function without arguments that returns the value. Only together with
        /// `HasDefault`.
        kTVMFFIFieldFlagBitMaskDefaultFromFactory = 1 << 5,
        /// Printing skips the field.
        kTVMFFIFieldFlagBitMaskReprOff = 1 << 6,
        /// Recursive comparison skips the field.
        kTVMFFIFieldFlagBitMaskCompareOff = 1 << 7,
        /// Recursive hashing skips the field.
        kTVMFFIFieldFlagBitMaskHashOff = 1 << 8,
        /// The generated `__ffi_init__` does not take the field; it has a default or the creator
        /// sets it.
        kTVMFFIFieldFlagBitMaskInitOff = 1 << 9,
        /// The generated `__ffi_init__` takes the field by keyword only.
        kTVMFFIFieldFlagBitMaskKwOnly = 1 << 10,
        /// `setter` is the handle of a function object that takes the field's address and the
        /// value, not a C function.
        kTVMFFIFieldFlagBitSetterIsFunctionObj = 1 << 11,
        /// The field defines one variable, see `TVMFFIDefRegionKind`.
        kTVMFFIFieldFlagBitMaskSEqHashDefSimple = 1 << 12,
    }
}

c_enum! {
    /// Treatment of the objects of a type by structural equality and hashing.
    pub enum TVMFFISEqHashKind: i32 {
        /// Not comparable: comparing raises an error.
        kTVMFFISEqHashKindUnsupported = 0,
        /// By content; sharing of objects does not matter.
        kTVMFFISEqHashKindTreeNode = 1,
        /// As a variable, which corresponds to another variable if both are defined at the same
        /// point.
        kTVMFFISEqHashKindFreeVar = 2,
        /// By content, and objects shared on one side must be shared on the other.
        kTVMFFISEqHashKindDAGNode = 3,
        /// By content, which contains no variables, so equal addresses suffice.
        kTVMFFISEqHashKindConstTreeNode = 4,
        /// By address: every value has a unique object.
        kTVMFFISEqHashKindUniqueInstance = 5,
    }
}

c_enum! {
    /// Kind of a definition region: whether a structural traversal is at a point where variables
    /// are defined.
    pub enum TVMFFIDefRegionKind: i32 {
        /// Variables are used here, not defined. They must be defined in an enclosing region, or
        /// compare by address.
        kTVMFFIDefRegionKindNone = 0,
        /// Pattern: the variable and every variable in its type are defined where they first occur.
        ///
        /// Applies to the entire content, regardless of the kinds of fields in it.
        kTVMFFIDefRegionKindPattern = 1,
        /// Simple: only the variable itself is defined; variables in its type are used. Has no
        /// effect inside a pattern.
        kTVMFFIDefRegionKindSimple = 2,
    }
}

/// A field of a reflected type.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct TVMFFIFieldInfo {
    /// The name.
    pub name: TVMFFIByteArray,
    /// Human-readable documentation.
    pub doc: TVMFFIByteArray,
    /// Structured information, as JSON.
    pub metadata: TVMFFIByteArray,
    /// Bits of `TVMFFIFieldFlagBitMask`.
    pub flags: i64,
    /// The size of the field in bytes.
    pub size: i64,
    /// The alignment of the field in bytes.
    pub alignment: i64,
    /// The offset of the field from the object's handle, in bytes.
    pub offset: i64,
    /// Reads the field.
    pub getter: Option<TVMFFIFieldGetter>,
    /// Writes the field. Also set for read-only fields, since loading a saved object needs it.
    ///
    /// A `TVMFFIFieldSetter`, or with `kTVMFFIFieldFlagBitSetterIsFunctionObj` the handle of a
    /// function.
    pub setter: *mut c_void,
    /// The default value, or the function that creates it, depending on `flags`.
    pub default_value_or_factory: TVMFFIAny,
    /// The declared type of the field; `kTVMFFIAny` if unknown.
    ///
    /// Does not constrain the run-time type of the value or of the elements of a container.
    pub field_static_type_index: i32,
}

/// A method of a reflected type, or a global function with its documentation.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct TVMFFIMethodInfo {
    /// The name.
    pub name: TVMFFIByteArray,
    /// Human-readable documentation.
    pub doc: TVMFFIByteArray,
    /// Structured information, as JSON.
    pub metadata: TVMFFIByteArray,
    /// Bits of `TVMFFIFieldFlagBitMask`.
    pub flags: i64,
    /// The function object. Unless the method is static, its first argument is the object.
    pub method: TVMFFIAny,
}

/// Information about a reflected type beyond its fields and methods.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TVMFFITypeMetadata {
    /// Human-readable documentation.
    pub doc: TVMFFIByteArray,
    /// Creates an object of the type, whose fields must all be set afterwards; may be null.
    pub creator: Option<TVMFFIObjectCreator>,
    /// The size of the object record in bytes; 0 if unknown.
    pub total_size: i32,
    /// Treatment of the type by structural equality and hashing.
    pub structural_eq_hash_kind: TVMFFISEqHashKind,
}

/// A type attribute: a column with one value per type, indexed by type index.
///
/// The entry of a type is `data[type_index - begin_index]`. A type does not have the attribute if
/// its index is outside `[begin_index, begin_index + size)` or its entry is None. Attributes are
/// not inherited from the parent type.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TVMFFITypeAttrColumn {
    /// The entries.
    pub data: *const TVMFFIAny,
    /// The number of entries.
    pub size: i32,
    /// The type index of the first entry.
    pub begin_index: i32,
}

/// The record of a registered type.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TVMFFITypeInfo {
    /// The type index.
    pub type_index: i32,
    /// The number of ancestors.
    pub type_depth: i32,
    /// The name of the type, unique in the process.
    pub type_key: TVMFFIByteArray,
    /// The ancestors, from the root to the parent: entry `d` has depth `d`.
    pub type_ancestors: *mut *const TVMFFITypeInfo,
    /// A hash of `type_key`, the same in every process.
    pub type_key_hash: u64,
    /// The number of `fields`.
    pub num_fields: i32,
    /// The number of `methods`.
    pub num_methods: i32,
    /// The fields, in the order of registration.
    pub fields: *const TVMFFIFieldInfo,
    /// The methods, in the order of registration.
    pub methods: *const TVMFFIMethodInfo,
    /// Further information, or null.
    pub metadata: *const TVMFFITypeMetadata,
}

#[cfg(target_pointer_width = "64")]
mod layout_64 {
    use super::*;

    assert_layout!(TVMFFIFieldInfo, size 120, align 8, {
        name: 0, doc: 16, metadata: 32, flags: 48, size: 56, alignment: 64, offset: 72, getter: 80, setter: 88,
        default_value_or_factory: 96, field_static_type_index: 112,
    });
    assert_layout!(TVMFFIMethodInfo, size 72, align 8, { name: 0, doc: 16, metadata: 32, flags: 48, method: 56 });
    assert_layout!(TVMFFITypeMetadata, size 32, align 8, {
        doc: 0, creator: 16, total_size: 24, structural_eq_hash_kind: 28,
    });
    assert_layout!(TVMFFITypeAttrColumn, size 16, align 8, { data: 0, size: 8, begin_index: 12 });
    assert_layout!(TVMFFITypeInfo, size 72, align 8, {
        type_index: 0, type_depth: 4, type_key: 8, type_ancestors: 24, type_key_hash: 32, num_fields: 40,
        num_methods: 44, fields: 48, methods: 56, metadata: 64,
    });
}

#[cfg(all(target_pointer_width = "32", not(target_arch = "x86")))]
mod layout_32 {
    use super::*;

    assert_layout!(TVMFFIFieldInfo, size 88, align 8, {
        name: 0, doc: 8, metadata: 16, flags: 24, size: 32, alignment: 40, offset: 48, getter: 56, setter: 60,
        default_value_or_factory: 64, field_static_type_index: 80,
    });
    assert_layout!(TVMFFIMethodInfo, size 48, align 8, { name: 0, doc: 8, metadata: 16, flags: 24, method: 32 });
    assert_layout!(TVMFFITypeMetadata, size 20, align 4, {
        doc: 0, creator: 8, total_size: 12, structural_eq_hash_kind: 16,
    });
    assert_layout!(TVMFFITypeAttrColumn, size 12, align 4, { data: 0, size: 4, begin_index: 8 });
    assert_layout!(TVMFFITypeInfo, size 56, align 8, {
        type_index: 0, type_depth: 4, type_key: 8, type_ancestors: 16, type_key_hash: 24, num_fields: 32,
        num_methods: 36, fields: 40, methods: 44, metadata: 48,
    });
}
