//! The library's own types beyond the static tables, registered by a provider of the host when a type is first looked
//! up.

#[cfg_attr(feature = "std", path = "std.rs")]
#[cfg_attr(not(feature = "std"), path = "bare.rs")]
mod imp;

pub use imp::*;
