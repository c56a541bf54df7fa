//! The C runtime of firmware that microTVM 0.8 to 0.14 generated: packed functions with values and type codes apart, over static tables.
//!
//! Everything here is made of the C symbols of tvm-ffi, so it is the same with every profile of the library, and it needs no
//! heap of its own. Functions that old code registers are called from tvm-ffi, and the other way round.
//!
//! | file | holds |
//! |---|---|
//! | [`abi`], [`code`] | `TVMValue` and type codes, shared with hosts |
//! | `value` | values of the API as values of tvm-ffi and back |
//! | [`error`] | the text of the last error |
//! | [`function`] | calls, and global functions |
//! | [`registry`], [`module`] | the tables of functions in generated code |
//! | `platform` | the functions of old firmware from which workspaces come |
//! | [`stack`] | the stack of blocks that they use |
//! | [`status`] | statuses beyond 0 and -1 |
//! | `tvm_ffi` | the symbols of tvm-ffi in this profile |
//!
//! # Rules that every symbol keeps
//! - 0 is success. Failure is -1, with the text in [`TVMGetLastError`](error::TVMGetLastError), unless a symbol returns
//!   `tvm_crt_error_t`; no out-parameter is written.
//! - Null handles and out-parameters, negative counts and unknown type codes are errors. Handles that are freed may be null.
//!
//! # Interrupts
//! As for the symbols of tvm-ffi; [`TVMGetLastError`](error::TVMGetLastError) has one buffer, and is not for handlers.
//!
//! # Safety
//! Pointers and handles are as in the C API of tvm-ffi, see the crate. Values have the codes that stand beside them.
//!
//! # Upstream
//! `src/runtime/crt` of apache/tvm v0.8.0 to v0.14.0.

#[path = "../abi.rs"]
pub mod abi;
#[path = "../code.rs"]
pub mod code;
pub mod error;
pub mod function;
pub mod module;
#[cfg(platform_workspaces)]
pub mod platform;
pub mod registry;
pub mod stack;
pub mod status;
mod tvm_ffi;
mod value;
