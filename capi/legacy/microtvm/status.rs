//! The statuses of functions that return `tvm_crt_error_t`.
#![allow(non_camel_case_types, reason = "the name of C")]

use core::ffi::c_int;

/// A status; the enumeration has more of them.
pub type tvm_crt_error_t = c_int;

/// kTvmErrorNoError
pub const NO_ERROR: tvm_crt_error_t = 0;
/// kTvmErrorFunctionNameNotFound
pub const NAME_NOT_FOUND: tvm_crt_error_t = 0x100;
/// kTvmErrorFunctionIndexInvalid
pub const INDEX_INVALID: tvm_crt_error_t = 0x101;
/// kTvmErrorPlatformNoMemory
pub const NO_MEMORY: tvm_crt_error_t = 0x503;
/// kTvmErrorPlatformStackAllocBadFree
pub const BAD_FREE: tvm_crt_error_t = 0x505;
/// kTvmErrorFunctionCallInvalidArg
pub const INVALID_ARGUMENT: tvm_crt_error_t = 0x803;
