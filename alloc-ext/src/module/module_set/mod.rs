//! A set of modules, which it keeps alive: for modules that stay loaded, and as the visited set of a search through imports.
//!
//! The interface is `ModuleSet::{new, add, remove}`. The fast form is a hash table; the small one a list with linear search,
//! since firmware has few modules.

#[cfg_attr(feature = "speed", path = "fast.rs")]
#[cfg_attr(not(feature = "speed"), path = "small.rs")]
mod imp;

pub(crate) use imp::ModuleSet;
