//! The value of the API, and its handles.

use core::ffi::{c_char, c_void};

use ferrite_core::abi::{DLDataType, DLDevice, DLTensor, TVMFFIObjectHandle};

/// A function.
pub type TVMFunctionHandle = TVMFFIObjectHandle;
/// A module.
pub type TVMModuleHandle = TVMFFIObjectHandle;
/// An object, a node up to 0.6.
pub type TVMObjectHandle = TVMFFIObjectHandle;
/// The destination of a callback's return value.
pub type TVMRetValueHandle = *mut c_void;
/// A stream of a device; null is the default one.
pub type TVMStreamHandle = *mut c_void;
/// An NDArray: the address of its tensor.
pub type TVMArrayHandle = *mut DLTensor;

/// The eight bytes of a value. Its type code is in a separate array.
#[repr(C)]
#[derive(Clone, Copy)]
pub union TVMValue {
    /// Integers, and booleans of 0.18 and later.
    pub v_int64: i64,
    /// Floating-point numbers.
    pub v_float64: f64,
    /// Pointers and handles.
    pub v_handle: *mut c_void,
    /// A zero-terminated text.
    pub v_str: *const c_char,
    /// A data type, in the first four bytes.
    pub v_type: DLDataType,
    /// A device.
    pub v_device: DLDevice,
    /// All eight bytes.
    pub v_bits: u64,
}

const _: () = assert!(size_of::<TVMValue>() == 8);

impl TVMValue {
    /// A value of eight bytes.
    pub const fn of_bits(v_bits: u64) -> TVMValue {
        TVMValue { v_bits }
    }

    /// A pointer; on 32-bit targets the upper half is zero.
    pub fn of_pointer(pointer: *mut c_void) -> TVMValue {
        let mut value = TVMValue::of_bits(0);
        value.v_handle = pointer;
        value
    }
}
