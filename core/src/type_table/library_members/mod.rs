//! Members that the library itself gives to types: registered again by clients of earlier releases, which changes nothing. Builds
//! without an operating system have no such members.

#[cfg_attr(feature = "std", path = "std.rs")]
#[cfg_attr(not(feature = "std"), path = "bare.rs")]
mod imp;

pub(super) use imp::*;
