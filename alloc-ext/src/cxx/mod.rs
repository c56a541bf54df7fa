//! Calls of C++ hooks, which may throw exceptions.
//!
//! No exception may unwind a Rust frame. With the feature `cxx`, hooks of C++ clients are called
//! through a function that catches exceptions and that the library installs at startup. Other
//! builds call hooks directly. Calls of C++ modules are in `cxx_class` of [`crate::module`].

#[cfg_attr(feature = "cxx", path = "linked.rs")]
#[cfg_attr(not(feature = "cxx"), path = "bare.rs")]
mod imp;

#[cfg(feature = "cxx")]
pub use imp::{CxxRuntime, install};
pub(crate) use imp::{call_equal, call_hash};
