//! The built-in types: static tables of entries with upstream's fields on hosts, or entries created
//! at the first lookup on bare metal.

#[cfg_attr(feature = "std", path = "std.rs")]
#[cfg_attr(not(feature = "std"), path = "bare.rs")]
mod imp;

pub(super) use imp::*;
