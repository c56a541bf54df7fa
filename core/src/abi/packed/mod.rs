//! `TVMValue`, the argument and result value of the packed-function API of TVM 0.5 to 0.20 and of
//! microTVM, and its handle types.

pub mod code;

use core::ffi::{c_char, c_void};

use super::{DLDataType, DLDevice, DLTensor, TVMFFIObjectHandle};

/// Handle of a function object.
pub type TVMFunctionHandle = TVMFFIObjectHandle;
/// Handle of a module object.
pub type TVMModuleHandle = TVMFFIObjectHandle;
/// Handle of an object; called a node up to 0.6.
pub type TVMObjectHandle = TVMFFIObjectHandle;
/// Handle by which a callback sets its return value.
pub type TVMRetValueHandle = *mut c_void;
/// Handle of a device stream. Null is the default stream.
pub type TVMStreamHandle = *mut c_void;
/// Handle of an NDArray: the address of its `DLTensor`.
pub type TVMArrayHandle = *mut DLTensor;

/// Eight-byte value of an argument or result. Its type code is passed separately.
#[repr(C)]
#[derive(Clone, Copy)]
pub union TVMValue {
    /// Integer; since 0.18 also a boolean.
    pub v_int64: i64,
    /// Floating-point number.
    pub v_float64: f64,
    /// Pointer or handle.
    pub v_handle: *mut c_void,
    /// Null-terminated string.
    pub v_str: *const c_char,
    /// Data type, in the first four bytes.
    pub v_type: DLDataType,
    /// Device type and id.
    pub v_device: DLDevice,
    /// Bit pattern of all eight bytes.
    pub v_bits: u64,
}

const _: () = assert!(size_of::<TVMValue>() == 8);

impl TVMValue {
    /// Creates a value from its bit pattern.
    pub const fn of_bits(v_bits: u64) -> TVMValue {
        TVMValue { v_bits }
    }

    /// Creates a value from a pointer. On 32-bit targets, the upper half is zero.
    pub fn of_pointer(pointer: *mut c_void) -> TVMValue {
        let mut value = TVMValue::of_bits(0);
        value.v_handle = pointer;
        value
    }
}
