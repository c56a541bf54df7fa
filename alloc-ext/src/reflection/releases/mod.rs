//! Differences of earlier releases of upstream in classes and global functions. Hosts can imitate each of them, bare-metal
//! builds the latest only.
//!
//! Both files have `fields_of`, `install` and `register_copy_method`.

#[cfg_attr(feature = "std", path = "std.rs")]
#[cfg_attr(not(feature = "std"), path = "bare.rs")]
mod imp;

#[cfg(feature = "std")]
pub use imp::FUNCTIONS;
pub(super) use imp::{fields_of, install, register_copy_method};
