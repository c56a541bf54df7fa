//! A set that keeps its modules alive: the modules that stay loaded, and the visited set of a
//! search through imports.
//!
//! Both files define `ModuleSet::{new, add, remove}`. Speed-optimised builds use a hash table,
//! size-optimised builds a list with linear search, since firmware has few modules.
//!
//! Price: the list takes 828 bytes less of flash on a Cortex-M4F in firmware without other identity
//! maps; the table keeps a search through n imports from n² comparisons.

#[cfg_attr(feature = "speed", path = "fast.rs")]
#[cfg_attr(not(feature = "speed"), path = "small.rs")]
mod imp;

pub(crate) use imp::ModuleSet;
