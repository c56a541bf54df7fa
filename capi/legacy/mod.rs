//! The packed-function API of TVM 0.5 to 0.20: `TVMFuncCall` and its family, on the registry and objects of this library.
//!
//! Handles of functions, modules and objects are those of tvm-ffi; the handle of an array is the `DLTensor` in a tensor object.
//! A function that an old program registers is called from tvm-ffi, and the other way round.
//!
//! | file | content |
//! |---|---|
//! | [`abi`], [`code`] | `TVMValue`, handles, and type codes |
//! | [`argument`], [`shown`], [`result`] | conversion of arguments to tvm-ffi and back, and of results to the API |
//! | [`error`] | the last error of a thread: texts with a kind prefix, and Python exceptions |
//! | [`call`], [`callback`] | calls of functions, and functions over C callbacks |
//! | [`registry`] | global functions |
//! | [`array`], [`device`] | NDArrays, streams and device memory |
//! | [`module`], [`compiled`], [`backend`] | modules, functions of compiled libraries, and the symbols that those call |
//! | [`object`], [`type_keys`], [`boxed`] | nodes and objects: attributes, former names of classes, values as objects |
//! | [`globals`] | the global functions that front ends look up |
//! | [`python`] | functions of the Python interpreter that a front end registers |
//! | [`thread`] | per-thread results: texts, lists of names |
//!
//! # Rules that every symbol keeps
//! - 0 is success. Failure is -1, with the text in [`TVMGetLastError`](error::TVMGetLastError); no out-parameter is written.
//! - Null handles and out-parameters, negative counts and unknown type codes are errors. Handles that a front end frees may be null.
//! - A text that a symbol returns belongs to the thread, and is valid until the thread's next call that returns one of
//!   its kind.
//! - Every symbol may be called from any thread.
//!
//! # Safety
//! Pointers and handles are as in the C API of tvm-ffi, see the crate. Values match their codes.
//!
//! # Upstream
//! `include/tvm/runtime/c_runtime_api.h` of apache/tvm v0.5 to v0.20.

pub mod abi;
pub mod argument;
pub mod array;
pub mod backend;
pub mod boxed;
pub mod call;
pub mod callback;
pub mod code;
pub mod compiled;
pub mod device;
pub mod error;
pub mod globals;
pub mod module;
pub mod object;
pub mod python;
pub mod registry;
pub mod result;
pub mod shown;
pub mod thread;
pub mod type_keys;
