//! Attribute columns by name: a static table for the library's own and a name table for others, or one list.

#[cfg_attr(feature = "speed", path = "fast.rs")]
#[cfg_attr(not(feature = "speed"), path = "small.rs")]
mod imp;

#[cfg(all(feature = "std", feature = "speed"))]
pub(crate) use imp::OTHERS;
pub(super) use imp::*;
