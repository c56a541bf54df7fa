//! The set of modules that a search through imports has visited, so that shared imports are searched once.
//!
//! The interface is `VisitedSet::insert`, which returns `false` for an address that was inserted before.

#[cfg_attr(feature = "speed", path = "fast.rs")]
#[cfg_attr(not(feature = "speed"), path = "small.rs")]
mod imp;

pub(super) use imp::VisitedSet;
