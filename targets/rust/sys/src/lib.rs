//! The TVM-FFI ABI for kernel libraries in Rust, and for programs beside a `libtvm_ffi` that is
//! already there.
#![no_std]

mod api;
pub use api::*;
pub use ferrite_core::value::device;
