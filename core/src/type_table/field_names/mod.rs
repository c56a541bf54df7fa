//! Fields by name: a hash table for types with many fields, or none.

#[cfg_attr(feature = "speed", path = "fast.rs")]
#[cfg_attr(not(feature = "speed"), path = "small.rs")]
mod imp;

pub(super) use imp::*;
