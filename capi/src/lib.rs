//! `libtvm_ffi`: the C symbols of the TVM-FFI stable ABI.
//!
//! Each file contains one section of the headers `tvm/ffi/c_api.h` and `tvm/ffi/extra/c_env_api.h`,
//! which are generated from the documentation here. A symbol checks its arguments, calls an inner
//! crate once and converts the result into a status code. This crate contains no other logic.
//!
//! # Rules for all symbols
//! - Symbols return 0 on success. On failure they return -1 and raise an error on the calling
//!   thread, which `TVMFFIErrorMoveFromRaised` retrieves. A failed call writes no out-parameter and
//!   has no other effect.
//! - Results and arguments may overlap: an out-parameter may alias an argument or its content.
//! - A null handle, a null out-parameter, a null byte array, null data with a nonzero size and a
//!   negative count raise ValueError; a handle of the wrong type raises TypeError.
//! - Every symbol may be called from any thread.
//! - A panic of the library itself becomes an InternalError in builds with unwinding.
//!
//! # Safety
//! Every pointer is either null or valid for the duration of the call, under the rules of
//! [`core::ptr::read`] for inputs and [`core::ptr::write`] for out-parameters. C strings are
//! null-terminated. A handle is null or points to a live object. Unless stated otherwise, handles
//! passed in are borrowed, and handles returned are new references that the caller must release.
//! The `# Safety` sections of the functions state additional requirements.
//!
//! # Features
//! `Cargo.toml` describes them, and `docs/features.md` for users. In short:
//! - `host`, `backtrace`, `builtins`, `speed` (default): the library for hosts.
//! - `functions`, `modules`, `containers`: groups of the `ffi.*` global functions, all in
//!   `builtins`.
//! - `backend`: the `TVMBackend*` symbols. `model`, `relax`: whole models.
//! - `opencl`, `vulkan`, `cuda`, `rocm`, `metal`, `webgpu`: device modules of these kinds, see
//!   `ferrite-ffi-gpu`.
//! - `cxx-abi`, `legacy`, `microtvm`: layers with packages of their own, `ferrite-ffi-cxx`,
//!   `ferrite-ffi-legacy` and `ferrite-ffi-microtvm`.
//! - `web`: the symbols that TVM's JavaScript runtime calls in web pages.
//! - `core`, `full`, `libm`: archives for C firmware. The profile `minimal` is the package
//!   `ferrite-ffi-minimal`.
#![cfg_attr(not(feature = "host"), no_std)]
#![allow(non_snake_case, reason = "the C ABI fixes these spellings")]

#[cfg(all(feature = "microtvm", feature = "host"))]
compile_error!("`microtvm` is for firmware: hosts have `legacy`");

#[cfg(all(feature = "libm", feature = "host"))]
compile_error!("`libm` is for firmware: hosts have a C library");

pub mod allocator;
pub mod backtrace;
pub mod bigint;
#[cfg(any(feature = "containers", feature = "functions", feature = "modules"))]
mod builtins;
#[cfg(not(any(feature = "containers", feature = "functions", feature = "modules")))]
#[path = "no_builtins.rs"]
mod builtins;
pub mod dtype;
pub mod error;
pub mod function;
pub mod init_once;
pub mod object;
pub mod string;
pub mod tensor;
pub mod type_info;

#[cfg(any(feature = "containers", feature = "modules"))]
pub mod env;
#[cfg(feature = "modules")]
pub mod module;

#[cfg(feature = "backend")]
pub mod backend;

#[cfg(feature = "model")]
pub mod model;
#[cfg(feature = "relax")]
pub mod relax;
#[cfg(feature = "rpc")]
pub mod rpc;
#[cfg(all(feature = "web", target_family = "wasm"))]
pub mod web;

use ferrite_boundary as boundary;
// Linked for its symbols.
#[cfg(feature = "microtvm")]
use ferrite_microtvm as _;

#[cfg(all(any(feature = "core", feature = "full"), not(feature = "host")))]
mod panic;

#[cfg(feature = "libm")]
mod libm;
#[cfg(any(all(feature = "core", target_os = "none"), test))]
mod memory;
#[cfg(all(any(feature = "core", feature = "full"), not(feature = "host")))]
pub mod platform;

#[cfg(test)]
mod tests;
