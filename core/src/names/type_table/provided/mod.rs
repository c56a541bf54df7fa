//! The library's own types beyond the built-in ones. On hosts, a provider registers them when a
//! type is first looked up.

#[cfg_attr(feature = "std", path = "std.rs")]
#[cfg_attr(not(feature = "std"), path = "bare.rs")]
mod imp;

pub use imp::*;
