//! The release of upstream that the process is served, where a later one contradicts it: chosen by a client on hosts, and the last
//! one in other builds.

#[cfg_attr(feature = "std", path = "std.rs")]
#[cfg_attr(not(feature = "std"), path = "bare.rs")]
mod imp;

pub use imp::*;
