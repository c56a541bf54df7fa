//! The packed-function API of TVM 0.5 to 0.20 (`TVMFuncCall` and related functions), implemented on
//! the function table and objects of tvm-ffi. "The legacy API" in this crate means this API.
//!
//! Handles of functions, modules and objects are tvm-ffi object handles. The handle of an array is
//! the address of the `DLTensor` inside a tensor object. Functions registered through either API
//! can be called through the other.
//!
//! | file | content |
//! |---|---|
//! | [`argument`], [`converted`], [`result`] | conversion of arguments between both APIs, and of results to the legacy API |
//! | [`dtype`], [`crossing`] | data types of earlier releases, and arrays whose data type differs |
//! | [`error`] | the last error of a thread: strings with a kind prefix, and Python exceptions |
//! | [`call`], [`callback`] | function calls, and functions implemented by C callbacks |
//! | [`registry`] | global functions |
//! | [`mod@array`], `copy`, [`device`], `back_end` | NDArrays, streams and device memory |
//! | [`module`], [`compiled`], [`backend`] | modules, functions of compiled libraries, and the symbols that compiled code calls |
//! | [`object`], [`type_keys`], `type_registration`, [`boxed`] | nodes and objects: attributes, former type keys, boxed values |
//! | [`globals`] | the global functions that front ends look up |
//! | [`python`] | functions of the Python interpreter that a front end registers |
//! | [`thread`] | per-thread results: strings, bytes and lists of names |
//!
//! # Rules for all symbols
//! - Symbols return 0 on success. On failure they return -1,
//!   [`TVMGetLastError`](error::TVMGetLastError) describes the error, and no out-parameter is
//!   written.
//! - Null handles and out-parameters, negative counts and unknown type codes are errors. Freeing a
//!   null handle is allowed, except for arrays.
//! - A string that a symbol returns is stored in a thread-local slot, and is valid until the
//!   thread's next call that returns a string of the same kind.
//! - Every symbol may be called from any thread.
//!
//! # Safety
//! The rules for pointers and handles of `ferrite-ffi-capi` apply. Values match their type codes.
//!
//! # Upstream
//! `include/tvm/runtime/c_runtime_api.h` of apache/tvm v0.5 to v0.20.
#![allow(non_snake_case, reason = "the C API fixes these spellings")]

pub mod argument;
pub mod array;
mod back_end;
pub mod backend;
pub mod boxed;
pub mod call;
pub mod callback;
pub mod compiled;
pub mod converted;
mod copy;
pub mod crossing;
pub mod device;
pub mod dtype;
pub mod error;
pub mod forks;
pub mod globals;
pub mod module;
pub mod object;
pub mod python;
pub mod registry;
pub mod result;
pub mod thread;
pub mod type_keys;
mod type_registration;

// The C symbols of tvm-ffi, for the tests.
#[cfg(test)]
use ferrite_library as _;

/// Installs what this layer adds to the rest of the library.
pub fn install() {
    compiled::install();
    forks::install();
}
