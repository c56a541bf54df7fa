//! The C records of the TVM-FFI ABI, with the names and layout of C.
//!
//! Only data: no behaviour beyond reading a byte array. The documentation of these items is also
//! the text of the generated headers `tvm/ffi/c_api.h` and `dlpack/dlpack.h`, so it addresses C
//! programmers.
//!
//! Layout is the contract: each file ends with assertions of size, alignment and every offset, for
//! 64-bit targets and for 32-bit targets that align 64-bit integers to eight bytes (ARM, RISC-V,
//! wasm).
#![allow(
    non_camel_case_types,
    non_upper_case_globals,
    non_snake_case,
    reason = "the C ABI fixes these spellings"
)]

#[macro_use]
mod c_enum;
mod any;
mod backend;
mod cells;
#[cfg(feature = "client")]
pub mod client;
mod dlpack;
mod object;
pub mod packed;
mod reflection;
pub mod type_index;

pub use any::*;
pub use backend::*;
pub use cells::*;
pub use dlpack::*;
pub use object::*;
pub use reflection::*;
