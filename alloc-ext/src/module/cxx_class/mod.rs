//! Modules as C++ objects: the virtual table of modules created by this library, and the operations
//! of modules that C++ classes implement.
//!
//! A library linked with a C++ runtime (feature `cxx`) installs both. Other builds have neither.

#[cfg_attr(feature = "cxx", path = "linked.rs")]
#[cfg_attr(not(feature = "cxx"), path = "bare.rs")]
mod imp;

#[cfg(feature = "cxx")]
pub use imp::{CxxClass, install};
pub(super) use imp::{ops, vptr};
