//! Memory of the type table, which is never freed: pieces of large blocks on hosts, or a separate
//! block for each piece on bare metal.

#[cfg_attr(feature = "std", path = "std.rs")]
#[cfg_attr(not(feature = "std"), path = "bare.rs")]
mod imp;

pub(super) use imp::*;
