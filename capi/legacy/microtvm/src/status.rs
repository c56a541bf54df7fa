//! Status codes of functions that return `tvm_crt_error_t`.
#![allow(non_camel_case_types, reason = "the name of C")]

use core::ffi::c_int;

/// A status code. The C enumeration has further values, which this library does not return.
pub type tvm_crt_error_t = c_int;

/// `kTvmErrorNoError`: success.
pub const NO_ERROR: tvm_crt_error_t = 0;
/// `kTvmErrorFunctionNameNotFound`: no function has the name.
pub const NAME_NOT_FOUND: tvm_crt_error_t = 0x100;
/// `kTvmErrorFunctionIndexInvalid`: the function index is out of range.
pub const INDEX_INVALID: tvm_crt_error_t = 0x101;
/// `kTvmErrorPlatformNoMemory`: out of memory.
pub const NO_MEMORY: tvm_crt_error_t = 0x503;
/// `kTvmErrorPlatformStackAllocBadFree`: the freed pointer is not an allocated block.
pub const BAD_FREE: tvm_crt_error_t = 0x505;
/// `kTvmErrorFunctionCallInvalidArg`: an argument is null or invalid.
pub const INVALID_ARGUMENT: tvm_crt_error_t = 0x803;
