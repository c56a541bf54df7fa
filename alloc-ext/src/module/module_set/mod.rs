//! A set that keeps its modules alive: the modules that stay loaded, and the visited set of a
//! search through imports.
//!
//! Both files define `ModuleSet::{new, add, remove}`. Speed-optimised builds use a hash table,
//! size-optimised builds a list with linear search, since firmware has few modules.

#[cfg_attr(feature = "speed", path = "fast.rs")]
#[cfg_attr(not(feature = "speed"), path = "small.rs")]
mod imp;

pub(crate) use imp::ModuleSet;
