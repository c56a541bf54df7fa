//! Backtraces of errors: a string from the provider that the host installs, empty without an
//! operating system.

#[cfg_attr(feature = "std", path = "std.rs")]
#[cfg_attr(not(feature = "std"), path = "bare.rs")]
mod imp;

pub use imp::*;
