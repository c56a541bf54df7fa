//! Lookup of a type's fields by name: a hash index for types with many fields, or none in
//! size-optimised builds.

#[cfg_attr(feature = "speed", path = "fast.rs")]
#[cfg_attr(not(feature = "speed"), path = "small.rs")]
mod imp;

pub(super) use imp::*;
