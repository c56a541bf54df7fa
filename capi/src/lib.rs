//! `libtvm_ffi`: the C symbols of the TVM-FFI stable ABI.
//!
//! Each file contains one section of the headers `tvm/ffi/c_api.h` and `tvm/ffi/extra/c_env_api.h`, which are generated
//! from the documentation here. A symbol checks its arguments, calls an inner crate once and turns the result into a
//! status; there is no other logic in this crate.
//!
//! # Rules that every symbol keeps
//! - 0 is success. Failure is -1 with the error raised on the calling thread; take it with `TVMFFIErrorMoveFromRaised`.
//!   On failure no out-parameter is written and nothing has changed.
//! - Results and arguments may overlap: an out-parameter may alias an argument or its content.
//! - A null handle, a null out-parameter, a null byte array, null data with a size and a negative count raise ValueError; a
//!   handle of the wrong type raises TypeError.
//! - Every symbol may be called from any thread.
//! - A panic of the library itself becomes an InternalError in builds with unwinding.
//!
//! # Safety
//! Every pointer is either null or valid for the duration of the call, under the rules of [`core::ptr::read`] for inputs and
//! [`core::ptr::write`] for out-parameters. A C string ends with a zero. A handle is null or points to a live object.
//! Handles passed in are borrowed, handles written out are new references that the caller releases, unless said otherwise. The
//! `# Safety` sections of the functions only add to this.
//!
//! # Features
//! - `speed` (default): fast code in place of small code, and error messages in full.
//! - `std`: for hosts; without it the crate is `no_std` and a platform supplies memory, locks and a log.
//! - `alloc`: the `TVMFFIEnv*` symbols; those of modules, `TVMFFIEnvMod*`, with `modules`.
//! - `builtins`: the `ffi.*` global functions in groups, each a feature: `functions`, `modules`, `containers`, `json`,
//!   `graph`, `dataclass`, `structural`, `reflection`.
//! - `core`: a profile for C firmware: ring 1 (`ferrite-ffi-core`) alone.
//! - `full`: a profile for C firmware: rings 1 and 2 (`ferrite-ffi-alloc`): containers, JSON and structural operations.
//! - `host`: modules from dynamic libraries, and a thread pool. Needs an operating system.
//! - `backtrace`: backtraces in errors, with function names. `backtrace-lines`: with files and lines.
//! - `cxx-abi`: the symbols that C++ clients link besides those of C; see `cxx`.
//! - `backend`: the `TVMBackend*` symbols.
//! - `opencl`, `vulkan`, `cuda`, `rocm`, `metal`, `webgpu`: device modules of these kinds, see `ferrite-ffi-gpu`.
//! - `relax`: whole models that TVM compiled, and the machine that runs them; see `ferrite-ffi-relax`.
//! - `legacy`: the packed-function API of TVM 0.5 to 0.20; see `legacy`.
//! - `microtvm`: what firmware of microTVM 0.8 to 0.14 calls, with any profile; see `microtvm`.
//! - `custom-dtypes`: custom data types `custom[name]`, resolved by global functions; part of every profile except
//!   `core` and `minimal`.
//! - `spin`: spin locks for several cores without an operating system.
//! - `minimal`: a profile for C firmware: only the symbols that need no heap, in place of all others; see `minimal`.
//! - `libm`: the rest of the C math functions, for firmware without a C library.
//! - `small-memory`: `memcpy` and its family as loops over bytes, which take 100 bytes of flash.
//! - `panic-handler`: handles panics in C firmware by the hook `FerritePlatformAbort`.
#![cfg_attr(not(feature = "std"), no_std)]
#![allow(non_snake_case, reason = "the C ABI fixes these spellings")]

#[cfg(all(
    feature = "minimal",
    any(feature = "std", feature = "alloc", feature = "__groups", feature = "spin")
))]
compile_error!("`minimal` is all of the library: disable the other features, the default ones too");

#[cfg(all(feature = "microtvm", feature = "std"))]
compile_error!("`microtvm` is for firmware: hosts have `legacy`");

#[cfg(all(feature = "libm", feature = "std"))]
compile_error!("`libm` is for firmware: hosts have a C library");

#[cfg(not(feature = "minimal"))]
pub mod allocator;
#[cfg(not(feature = "minimal"))]
pub mod backtrace;
#[cfg(not(feature = "minimal"))]
pub mod bigint;
#[cfg(not(feature = "minimal"))]
mod boundary;
#[cfg(feature = "__groups")]
mod builtins;
#[cfg(not(any(feature = "__groups", feature = "minimal")))]
#[path = "no_builtins.rs"]
mod builtins;
#[cfg(not(feature = "minimal"))]
pub mod dtype;
#[cfg(not(feature = "minimal"))]
pub mod error;
#[cfg(not(feature = "minimal"))]
pub mod function;
#[cfg(not(feature = "minimal"))]
pub mod init_once;
#[cfg(not(feature = "minimal"))]
pub mod object;
#[cfg(not(feature = "minimal"))]
pub mod string;
#[cfg(not(feature = "minimal"))]
pub mod tensor;
#[cfg(not(feature = "minimal"))]
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

#[cfg(feature = "cxx-abi")]
#[path = "../cxx/mod.rs"]
mod cxx;

#[cfg(feature = "legacy")]
#[path = "../legacy/mod.rs"]
pub mod legacy;

#[cfg(feature = "microtvm")]
#[path = "../legacy/microtvm/mod.rs"]
pub mod microtvm;

#[cfg(feature = "minimal")]
pub mod minimal;

#[cfg(all(feature = "panic-handler", not(feature = "std"), not(feature = "minimal")))]
mod panic;

#[cfg(feature = "libm")]
mod libm;
#[cfg(any(all(feature = "small-memory", target_os = "none"), test))]
mod memory;
#[cfg(all(feature = "panic-handler", not(feature = "std")))]
pub mod platform;

#[cfg(test)]
#[cfg(not(feature = "minimal"))]
mod tests;
