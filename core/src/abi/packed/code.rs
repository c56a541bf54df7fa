//! Type codes of `TVMValue`s (`kTVM*` in the header).

use core::ffi::c_int;

/// Type code of a signed integer.
pub const INT: c_int = 0;
/// Type code of an unsigned integer.
pub const UINT: c_int = 1;
/// Type code of a floating-point number.
pub const FLOAT: c_int = 2;
/// Type code of an opaque pointer, which the library does not interpret.
pub const HANDLE: c_int = 3;
/// Type code of None (no value).
pub const NULL: c_int = 4;
/// Type code of a data type.
pub const DATA_TYPE: c_int = 5;
/// Type code of a device.
pub const DEVICE: c_int = 6;
/// Type code of a borrowed `DLTensor*`.
pub const DL_TENSOR: c_int = 7;
/// Type code of an object; a node up to 0.6.
pub const OBJECT: c_int = 8;
/// Type code of a module.
pub const MODULE: c_int = 9;
/// Type code of a function.
pub const FUNCTION: c_int = 10;
/// Type code of a null-terminated string.
pub const TEXT: c_int = 11;
/// Type code of a pointer to a byte array.
pub const BYTES: c_int = 12;
/// Type code of an NDArray, given by a pointer to its `DLTensor`.
pub const ND_ARRAY: c_int = 13;
/// Type code of an rvalue reference (since 0.7): a pointer to an object handle from which the
/// callee may move the object.
pub const RVALUE_REF: c_int = 14;
/// Type code of a boolean (since 0.18). Before, the code of an extension type.
pub const BOOL: c_int = 15;
