//! Differences between upstream releases in classes and global functions. Hosts can imitate each
//! supported release, bare-metal builds only the latest.
//!
//! Both files define `fields_of`, `install` and `register_copy_method`.

#[cfg_attr(feature = "std", path = "std.rs")]
#[cfg_attr(not(feature = "std"), path = "bare.rs")]
mod imp;

#[cfg(feature = "std")]
pub(super) use imp::FUNCTIONS_OF_0_1_10;
pub(super) use imp::{fields_of, install, register_copy_method};
