//! Lookup cache of a module: the functions that were looked up for its host code, by name.
//!
//! A cache is a container object in the module's `import_lookup_cache_` field: in speed-optimised
//! builds a Map, which C++ code can read, and in size-optimised builds an Array. Both files define
//! `empty`, `find`, `add_in_place` and `with_added`.
//!
//! Price: the Array takes 7 KiB less of flash on a Cortex-M4F in firmware without other Maps.

#[cfg_attr(feature = "speed", path = "fast.rs")]
#[cfg_attr(not(feature = "speed"), path = "small.rs")]
mod imp;

pub(super) use imp::{LookupCache, add_in_place, empty, find, with_added};
