//! A set of modules, which it keeps alive: those that stay loaded, and those that a search through imports has visited.
//!
//! The interface is `ModuleSet::{new, add, remove}`. The fast form is a hash table; the small one is searched linearly, since
//! firmware has few modules.

#[cfg_attr(feature = "speed", path = "fast.rs")]
#[cfg_attr(not(feature = "speed"), path = "small.rs")]
mod imp;

pub(crate) use imp::ModuleSet;
