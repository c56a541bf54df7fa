//! Lookup of attribute columns by name: a static table and a name table in speed-optimised builds,
//! or a single list in size-optimised builds.
//!
//! Price: the list takes 604 bytes less of flash on a Cortex-M4F; with the tables, a lookup takes
//! 64 instructions instead of 145.

#[cfg_attr(feature = "speed", path = "fast.rs")]
#[cfg_attr(not(feature = "speed"), path = "small.rs")]
mod imp;

#[cfg(all(feature = "std", feature = "speed"))]
pub(crate) use imp::OTHERS;
pub(super) use imp::*;
