//! Compatibility with earlier releases of upstream, where a later one contradicts them. On hosts a client selects the
//! release; other builds follow the last one.

#[cfg_attr(feature = "std", path = "std.rs")]
#[cfg_attr(not(feature = "std"), path = "bare.rs")]
mod imp;

pub use imp::*;
