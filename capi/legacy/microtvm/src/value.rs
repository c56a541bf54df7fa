//! Conversion of values between `TVMValue` and tvm-ffi, in both directions. Converted values are
//! borrowed.

use core::ffi::{c_int, c_void};

use ferrite_core::abi::{TVMFFIAny, TVMFFIAnyPayload, TVMFFIByteArray, TVMFFIObject, type_index};

use ferrite_core::abi::packed::TVMValue;
use ferrite_core::abi::packed::code;

/// Builds a tvm-ffi value from a type index and the bits of the payload.
const fn cell(type_index: i32, bits: u64) -> TVMFFIAny {
    TVMFFIAny { type_index, small_str_len: 0, payload: TVMFFIAnyPayload { v_uint64: bits } }
}

/// Builds a tvm-ffi value from a pointer. The upper half of the payload is zeroed: 32-bit code does
/// not write it.
fn pointer(type_index: i32, pointer: *mut c_void) -> TVMFFIAny {
    let mut value = cell(type_index, 0);
    value.payload.v_ptr = pointer;
    value
}

/// Converts an argument to a borrowed tvm-ffi value. Returns `None` for an unsupported type code or
/// a null string.
///
/// # Safety
/// The type code must describe the active member of the value, and its pointer, if any, must be
/// valid.
pub unsafe fn view(value: TVMValue, type_code: c_int) -> Option<TVMFFIAny> {
    // SAFETY: all members are plain data of at most eight bytes; the caller guarantees the value.
    let (bits, handle) = unsafe { (value.v_bits, value.v_handle) };
    Some(match type_code {
        code::INT | code::UINT => cell(type_index::INT, bits),
        code::FLOAT => cell(type_index::FLOAT, bits),
        code::HANDLE => pointer(type_index::OPAQUE_PTR, handle),
        code::NULL => cell(type_index::NONE, 0),
        // A data type takes four bytes of the payload; the other four are undefined.
        code::DATA_TYPE => cell(type_index::DATA_TYPE, u64::from(bits as u32)),
        code::DEVICE => cell(type_index::DEVICE, bits),
        // An NDArray of the C runtime starts with its DLTensor.
        code::DL_TENSOR | code::ND_ARRAY => pointer(type_index::DL_TENSOR_PTR, handle),
        code::BOOL => cell(type_index::BOOL, u64::from(bits as u8 != 0)),
        code::TEXT if !handle.is_null() => pointer(type_index::RAW_STR, handle),
        code::BYTES if !handle.is_null() => pointer(type_index::BYTE_ARRAY_PTR, handle),
        code::OBJECT | code::FUNCTION if handle.is_null() => cell(type_index::NONE, 0),
        // SAFETY: the caller guarantees the object.
        code::OBJECT | code::FUNCTION if !super::handle::is_entry(handle) => unsafe {
            pointer((*handle.cast::<TVMFFIObject>()).type_index, handle)
        },
        _ => return None,
    })
}

/// Converts a tvm-ffi value to a borrowed `TVMValue` and its type code. Returns `None` for a type
/// that has no type code.
///
/// # Safety
/// The tvm-ffi value must outlive every use of the result.
pub unsafe fn to_tvm_value(value: &TVMFFIAny) -> Option<(TVMValue, c_int)> {
    // SAFETY: the members of the payload are plain data, written in full; objects are alive.
    unsafe {
        let object = value.payload.v_obj;
        let content: *mut c_void = object.wrapping_add(1).cast();
        let plain = TVMValue::of_bits(value.payload.v_uint64);
        Some(match value.type_index {
            type_index::NONE => (plain, code::NULL),
            type_index::INT | type_index::BOOL => (plain, code::INT),
            type_index::FLOAT => (plain, code::FLOAT),
            type_index::OPAQUE_PTR => (plain, code::HANDLE),
            type_index::DATA_TYPE => (plain, code::DATA_TYPE),
            type_index::DEVICE => (plain, code::DEVICE),
            type_index::DL_TENSOR_PTR => (plain, code::DL_TENSOR),
            type_index::RAW_STR => (plain, code::TEXT),
            type_index::BYTE_ARRAY_PTR => (plain, code::BYTES),
            // An inline string has at most seven bytes, padded with zeros to the eighth.
            type_index::SMALL_STR => {
                (TVMValue::of_pointer((&raw const value.payload).cast_mut().cast()), code::TEXT)
            }
            type_index::STR => {
                let text = (*content.cast::<TVMFFIByteArray>()).data;
                (TVMValue::of_pointer(text.cast_mut().cast()), code::TEXT)
            }
            type_index::BYTES => (TVMValue::of_pointer(content), code::BYTES),
            type_index::TENSOR => (TVMValue::of_pointer(content), code::DL_TENSOR),
            type_index::FUNCTION => (plain, code::FUNCTION),
            type_index::STATIC_OBJECT_BEGIN.. => (plain, code::OBJECT),
            _ => return None,
        })
    }
}

/// Returns `true` if a result may have this type code: numbers, other plain values and owned
/// functions.
pub fn may_be_result(type_code: c_int) -> bool {
    matches!(type_code, code::INT..=code::DEVICE | code::FUNCTION | code::BOOL)
}
