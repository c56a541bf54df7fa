//! Members that the library itself adds to types. Clients built for earlier releases register the
//! same members again, which has no effect. Builds without an operating system add none.

#[cfg_attr(feature = "std", path = "std.rs")]
#[cfg_attr(not(feature = "std"), path = "bare.rs")]
mod imp;

pub(super) use imp::*;
