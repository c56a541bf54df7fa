//! Type codes of `TVMValue`s (`kTVM*` in the header).

use core::ffi::c_int;

/// Signed integer.
pub const INT: c_int = 0;
/// Unsigned integer.
pub const UINT: c_int = 1;
/// Floating-point number.
pub const FLOAT: c_int = 2;
/// Opaque pointer, which the library does not interpret.
pub const HANDLE: c_int = 3;
/// None (no value).
pub const NULL: c_int = 4;
/// Data type.
pub const DATA_TYPE: c_int = 5;
/// Device.
pub const DEVICE: c_int = 6;
/// Borrowed `DLTensor*`.
pub const DL_TENSOR: c_int = 7;
/// Object; a node up to 0.6.
pub const OBJECT: c_int = 8;
/// Module.
pub const MODULE: c_int = 9;
/// Function.
pub const FUNCTION: c_int = 10;
/// Null-terminated string.
pub const TEXT: c_int = 11;
/// Pointer to a byte array.
pub const BYTES: c_int = 12;
/// NDArray: a pointer to its `DLTensor`.
pub const ND_ARRAY: c_int = 13;
/// Rvalue reference, since 0.7: a pointer to an object handle from which the callee may move the object.
pub const RVALUE_REF: c_int = 14;
/// Boolean, since 0.18. Before, an extension type.
pub const BOOL: c_int = 15;
