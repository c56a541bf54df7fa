//! Attribute columns by name: those of the library in a static table and others in a name table, or a list.

#[cfg_attr(feature = "speed", path = "fast.rs")]
#[cfg_attr(not(feature = "speed"), path = "small.rs")]
mod imp;

#[cfg(all(feature = "std", feature = "speed"))]
pub(crate) use imp::OTHERS;
pub(super) use imp::*;
