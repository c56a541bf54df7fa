//! Compatibility with earlier releases of upstream where a later release changed behaviour
//! incompatibly. On hosts, clients select the release; other builds follow the latest one.

#[cfg_attr(feature = "std", path = "std.rs")]
#[cfg_attr(not(feature = "std"), path = "bare.rs")]
mod imp;

pub use imp::*;
