//! The type codes of values, `kTVM*` in the header.

use core::ffi::c_int;

/// A signed integer.
pub const INT: c_int = 0;
/// An unsigned integer.
pub const UINT: c_int = 1;
/// A floating-point number.
pub const FLOAT: c_int = 2;
/// An opaque pointer, which only the user interprets.
pub const HANDLE: c_int = 3;
/// No value.
pub const NULL: c_int = 4;
/// A data type.
pub const DATA_TYPE: c_int = 5;
/// A device.
pub const DEVICE: c_int = 6;
/// A borrowed `DLTensor*`.
pub const DL_TENSOR: c_int = 7;
/// A node, or an object.
pub const OBJECT: c_int = 8;
/// A module.
pub const MODULE: c_int = 9;
/// A function.
pub const FUNCTION: c_int = 10;
/// A zero-terminated text.
pub const TEXT: c_int = 11;
/// A pointer to a byte array.
pub const BYTES: c_int = 12;
/// An NDArray: a pointer to the `DLTensor` in it.
pub const ND_ARRAY: c_int = 13;
/// A pointer to an object handle from which the callee may move. Since 0.7.
pub const RVALUE_REF: c_int = 14;
/// A boolean. Since 0.18; a type of an extension before.
pub const BOOL: c_int = 15;
