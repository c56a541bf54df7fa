//! Calls of C++ code that may throw.
//!
//! No exception may pass through a Rust frame, so hooks of C++ clients are called through here: in a library that is linked with a
//! C++ runtime (feature `cxx`) by a function that catches what they throw, installed once at the start; in other builds directly.
//! How C++ and modules use each other, the module `cxx_class` of [`crate::module`] knows.

#[cfg_attr(feature = "cxx", path = "linked.rs")]
#[cfg_attr(not(feature = "cxx"), path = "bare.rs")]
mod imp;

#[cfg(feature = "cxx")]
pub use imp::{CxxRuntime, install};
pub(crate) use imp::{call_equal, call_hash};
