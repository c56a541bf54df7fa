//! The built-in types: static tables of entries with upstream's fields, or entries made at the first lookup.

#[cfg_attr(feature = "std", path = "std.rs")]
#[cfg_attr(not(feature = "std"), path = "bare.rs")]
mod imp;

pub(super) use imp::*;
