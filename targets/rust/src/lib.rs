//! The TVM-FFI ABI for Rust programs and firmware: values, functions, objects, containers, tensors and modules, with the whole
//! library inside.
//!
//! ```
//! use ferrite::{Function, Result};
//!
//! fn main() -> Result<()> {
//!     let add = Function::from_typed(|a: i64, b: i64| a + b)?;
//!     assert_eq!(add.call::<i64>((2, 3))?, 5);
//!     Ok(())
//! }
//! ```
#![no_std]

// The library installs its global functions, its loaders and its providers when the program starts.
#[cfg(feature = "host")]
extern crate ferrite_library as _;

#[cfg(test)]
extern crate std;

/// The examples of the README, which must compile.
#[cfg(all(doctest, feature = "host"))]
#[doc = include_str!("../README.md")]
struct Readme;

mod api;
#[cfg(feature = "host")]
mod symbols;

pub use api::*;

/// Devices: their types and names, and with the feature `alloc` their memory, streams and events.
pub mod device {
    #[cfg(feature = "alloc")]
    pub use ferrite_alloc_ext::device::*;
    pub use ferrite_core::device::*;
}

/// Whole models: the Relax executables that TVM compiles, and the virtual machine that runs them.
#[cfg(feature = "relax")]
pub use ferrite_relax as relax;
