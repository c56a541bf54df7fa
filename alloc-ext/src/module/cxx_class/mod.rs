//! Modules as C++ classes: how C++ calls modules made here, and how modules of C++ classes are used.
//!
//! A library linked with a C++ runtime (feature `cxx`) installs both; other builds have neither.

#[cfg_attr(feature = "cxx", path = "linked.rs")]
#[cfg_attr(not(feature = "cxx"), path = "bare.rs")]
mod imp;

#[cfg(feature = "cxx")]
pub use imp::{CxxClass, install};
pub(super) use imp::{ops, vptr};
