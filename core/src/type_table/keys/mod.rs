//! Registered types by key: a name table, or a linear search of the types.

#[cfg_attr(feature = "speed", path = "fast.rs")]
#[cfg_attr(not(feature = "speed"), path = "small.rs")]
mod imp;

#[cfg(all(feature = "std", feature = "speed"))]
pub(crate) use imp::INDEX_OF_KEY;
pub(super) use imp::*;
