//! `libtvm_ffi`: the C symbols of the TVM-FFI stable ABI.
//!
//! Each file contains one section of the headers `tvm/ffi/c_api.h` and `tvm/ffi/extra/c_env_api.h`, which are generated
//! from the documentation here. A symbol checks its arguments, calls an inner crate once and converts the result into a
//! status code. This crate contains no other logic.
//!
//! # Rules for all symbols
//! - Symbols return 0 on success. On failure they return -1 and raise an error on the calling thread, which
//!   `TVMFFIErrorMoveFromRaised` retrieves. A failed call writes no out-parameter and has no other effect.
//! - Results and arguments may overlap: an out-parameter may alias an argument or its content.
//! - A null handle, a null out-parameter, a null byte array, null data with a nonzero size and a negative count raise
//!   ValueError; a handle of the wrong type raises TypeError.
//! - Every symbol may be called from any thread.
//! - A panic of the library itself becomes an InternalError in builds with unwinding.
//!
//! # Safety
//! Every pointer is either null or valid for the duration of the call, under the rules of [`core::ptr::read`] for
//! inputs and [`core::ptr::write`] for out-parameters. C strings are null-terminated. A handle is null or points to a
//! live object. Unless stated otherwise, handles passed in are borrowed, and handles returned are new references that
//! the caller must release. The `# Safety` sections of the functions state additional requirements.
//!
//! # Features
//! - `speed` (default): optimises for speed rather than size, with full error messages.
//! - `std`: for hosts. Without it the crate is `no_std`, and the platform supplies memory, locks and a log.
//! - `alloc`: the `TVMFFIEnv*` symbols. The module symbols `TVMFFIEnvMod*` also need `modules`.
//! - `builtins`: the `ffi.*` global functions in groups, each a feature: `functions`, `modules`, `containers`, `json`,
//!   `graph`, `dataclass`, `structural`, `reflection`.
//! - `core`: a profile for C firmware: ring 1 (`ferrite-ffi-core`) alone.
//! - `full`: a profile for C firmware: rings 1 and 2 (`ferrite-ffi-alloc`): containers, JSON and structural operations.
//! - `host`: modules from dynamic libraries, and a thread pool. Needs an operating system.
//! - `backtrace`: backtraces in errors, with function names. `backtrace-lines`: with files and lines.
//! - `cxx-abi`: the C++ symbols that C++ clients link in addition to the C symbols; see `ferrite-ffi-cxx`.
//! - `backend`: the `TVMBackend*` symbols.
//! - `opencl`, `vulkan`, `cuda`, `rocm`, `metal`, `webgpu`: device modules of these kinds, see `ferrite-ffi-gpu`.
//! - `relax`: whole models compiled by TVM, and the virtual machine that runs them; see `ferrite-ffi-relax`.
//! - `legacy`: the packed-function API of TVM 0.5 to 0.20; see `ferrite-ffi-legacy`.
//! - `microtvm`: the C runtime of microTVM 0.8 to 0.14, in any profile; see `ferrite-ffi-microtvm`.
//! - `custom-dtypes`: custom data types `custom[name]`, resolved by global functions; part of every profile except
//!   `core`.
//! - `spin`: spin locks, for multi-core systems without an operating system.
//! - `libm`: the C math functions that `compiler_builtins` lacks, for firmware without a C library.
//! - `small-memory`: `memcpy` and related functions as byte loops, which take 100 bytes of flash.
//! - `panic-handler`: a panic handler for C firmware, which calls the hook `FerritePlatformAbort`.
#![cfg_attr(not(feature = "std"), no_std)]
#![allow(non_snake_case, reason = "the C ABI fixes these spellings")]

#[cfg(all(feature = "microtvm", feature = "std"))]
compile_error!("`microtvm` is for firmware: hosts have `legacy`");

#[cfg(all(feature = "libm", feature = "std"))]
compile_error!("`libm` is for firmware: hosts have a C library");

pub mod allocator;
pub mod backtrace;
pub mod bigint;
#[cfg(feature = "__groups")]
mod builtins;
#[cfg(not(feature = "__groups"))]
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

#[cfg(feature = "alloc")]
pub mod env;
#[cfg(feature = "modules")]
pub mod module;

#[cfg(feature = "backend")]
pub mod backend;

#[cfg(feature = "model")]
pub mod model;
#[cfg(feature = "relax")]
pub mod relax;

use ferrite_boundary as boundary;
// Linked for its symbols.
#[cfg(feature = "microtvm")]
use ferrite_microtvm as _;

#[cfg(all(feature = "panic-handler", not(feature = "std")))]
mod panic;

#[cfg(feature = "libm")]
mod libm;
#[cfg(any(all(feature = "small-memory", target_os = "none"), test))]
mod memory;
#[cfg(all(feature = "panic-handler", not(feature = "std")))]
pub mod platform;

#[cfg(test)]
mod tests;
