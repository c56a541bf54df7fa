//! Type indices fixed by the ABI, and predicates on their ranges.
#![forbid(unsafe_code)]

/// Any type; used only as the declared type of a field.
pub const ANY: i32 = -1;
/// No value.
pub const NONE: i32 = 0;
/// A 64-bit signed integer.
pub const INT: i32 = 1;
/// A boolean.
pub const BOOL: i32 = 2;
/// A 64-bit float.
pub const FLOAT: i32 = 3;
/// An opaque pointer.
pub const OPAQUE_PTR: i32 = 4;
/// A `DLDataType`.
pub const DATA_TYPE: i32 = 5;
/// A `DLDevice`.
pub const DEVICE: i32 = 6;
/// A borrowed `DLTensor` pointer.
pub const DL_TENSOR_PTR: i32 = 7;
/// A borrowed NUL-terminated string; only in views.
pub const RAW_STR: i32 = 8;
/// A borrowed byte array; only in views.
pub const BYTE_ARRAY_PTR: i32 = 9;
/// An rvalue reference to an object pointer, from which the callee may move; only in views.
pub const OBJECT_RVALUE_REF: i32 = 10;
/// A string of up to seven bytes, stored inline.
pub const SMALL_STR: i32 = 11;
/// A byte string of up to seven bytes, stored inline.
pub const SMALL_BYTES: i32 = 12;
/// A marker that a structural mutator returns if it leaves a value unchanged.
pub const UNCHANGED: i32 = 13;
/// The first type index of objects.
pub const STATIC_OBJECT_BEGIN: i32 = 64;
/// `ffi.Object`, the root of all object types.
pub const OBJECT: i32 = 64;
/// `ffi.String`.
pub const STR: i32 = 65;
/// `ffi.Bytes`.
pub const BYTES: i32 = 66;
/// `ffi.Error`.
pub const ERROR: i32 = 67;
/// `ffi.Function`.
pub const FUNCTION: i32 = 68;
/// `ffi.Shape`.
pub const SHAPE: i32 = 69;
/// `ffi.Tensor`.
pub const TENSOR: i32 = 70;
/// `ffi.Array`.
pub const ARRAY: i32 = 71;
/// `ffi.Map`.
pub const MAP: i32 = 72;
/// `ffi.Module`.
pub const MODULE: i32 = 73;
/// `ffi.OpaquePyObject`.
pub const OPAQUE_PY_OBJECT: i32 = 74;
/// `ffi.List`.
pub const LIST: i32 = 75;
/// `ffi.Dict`.
pub const DICT: i32 = 76;
/// `ffi.VisitInterrupt`.
pub const VISIT_INTERRUPT: i32 = 77;
/// `ffi.BigInt`.
pub const BIG_INT: i32 = 78;
/// One past the last statically assigned index.
pub const STATIC_OBJECT_END: i32 = 79;
/// The first index assigned at run time.
pub const DYN_OBJECT_BEGIN: i32 = 128;

/// Returns `true` if values of this type are object references, which share the object's reference
/// count.
#[inline]
pub const fn is_object(type_index: i32) -> bool {
    type_index >= STATIC_OBJECT_BEGIN
}

/// Returns `true` if the index is assigned at run time.
#[inline]
pub const fn is_dynamic(type_index: i32) -> bool {
    type_index >= DYN_OBJECT_BEGIN
}

/// Returns `true` if values of this type borrow from the caller, so that they can only be views,
/// not owned values. A DLTensor pointer has no owned representation at all.
#[inline]
pub const fn is_view_only(type_index: i32) -> bool {
    matches!(type_index, DL_TENSOR_PTR | RAW_STR | BYTE_ARRAY_PTR | OBJECT_RVALUE_REF)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi;

    #[test]
    fn indices_equal_the_c_constants() {
        assert_eq!(UNCHANGED, abi::kTVMFFIUnchanged);
        assert_eq!(STATIC_OBJECT_BEGIN, abi::kTVMFFIStaticObjectBegin);
        assert_eq!(MODULE, abi::kTVMFFIModule);
        assert_eq!(BIG_INT, abi::kTVMFFIBigInt);
        assert_eq!(STATIC_OBJECT_END, abi::kTVMFFIStaticObjectEnd);
        assert_eq!(DYN_OBJECT_BEGIN, abi::kTVMFFIDynObjectBegin);
    }

    #[test]
    fn ranges_split_values_from_objects_and_static_from_dynamic() {
        assert!(!is_object(UNCHANGED));
        assert!(is_object(OBJECT));
        assert!(!is_dynamic(BIG_INT));
        assert!(is_dynamic(128));
    }

    #[test]
    fn only_borrowing_values_are_kept_out_of_owned_ones() {
        assert!(is_view_only(RAW_STR));
        assert!(is_view_only(DL_TENSOR_PTR));
        assert!(!is_view_only(DEVICE));
        assert!(!is_view_only(SMALL_STR));
    }
}
