//! Lookup of registered types by key: a name table in speed-optimised builds, or a linear search in
//! size-optimised builds.

#[cfg_attr(feature = "speed", path = "fast.rs")]
#[cfg_attr(not(feature = "speed"), path = "small.rs")]
mod imp;

#[cfg(all(feature = "std", feature = "speed"))]
pub(crate) use imp::INDEX_OF_KEY;
pub(super) use imp::*;
