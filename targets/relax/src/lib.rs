//! Whole models: the Relax executables that TVM compiles, and the virtual machine that runs them.
//!
//! | module | content |
//! |---|---|
//! | [`executable`] | executables: parsing with bounds checks into a decoded form, serialisation, text output |
//! | [`machine`] | the virtual machine: devices, functions, frames, the interpreter, instruments, saved functions |
//! | [`builtins`] | the functions `vm.builtin.*` that compiled models call, in groups |
//! | [`memory`] | storages, tensors placed in them, and their allocators |
//! | [`module`] | modules for executables (`relax.VMExecutable`) and machines (`relax.VirtualMachine`) |
//! | [`model`] | models as programs use them: files, named inputs, weights, profiles |
//! | [`compiled`] | C symbols called by executables whose functions are native code |
//! | [`functions`] | the global functions of the build |
//!
//! No part needs an operating system, and every allocation may fail.
//!
//! # Features
//! - `speed` (default): fast code in place of small code.
//! - `std`: an operating system: locks, threads, and functions that yield to `libtvm_runtime`.
//! - `devices` (default): memory of devices that have a back end; without it, main memory alone.
//! - `all-builtins` (default): every builtin, and models as modules; without it, the builtins that
//!   the program lists.
//! - `kv-cache`: paged key-value caches among them.
#![cfg_attr(not(any(feature = "std", test)), no_std)]

#[cfg(any(feature = "std", test))]
extern crate std;

pub mod builtins;
#[cfg_attr(not(feature = "all-builtins"), path = "class/fixed.rs")]
mod class;
pub mod compiled;
pub mod executable;
pub mod functions;
pub mod machine;
pub mod memory;
pub mod model;
#[cfg(feature = "all-builtins")]
pub mod module;
