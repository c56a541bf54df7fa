//! Members that the library itself adds to types: clients of earlier releases register them again, which has no effect.
//! Builds without an operating system have none.

#[cfg_attr(feature = "std", path = "std.rs")]
#[cfg_attr(not(feature = "std"), path = "bare.rs")]
mod imp;

pub(super) use imp::*;
