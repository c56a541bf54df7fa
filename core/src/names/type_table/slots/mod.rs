//! Lookup of entries by type index, with lock-free readers: chunks of slots in speed-optimised
//! builds, or a list of entries in size-optimised builds. `keys` has the price of both.

#[cfg_attr(feature = "speed", path = "fast.rs")]
#[cfg_attr(not(feature = "speed"), path = "small.rs")]
mod imp;

pub(super) use imp::*;
