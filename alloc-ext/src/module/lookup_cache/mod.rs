//! Cache of the functions that a module looked up for host code, by name.
//!
//! A cache is a container object in the module's `import_lookup_cache_` field: a Map in fast builds, which C++ can read as
//! well, and an Array in small ones. Both files have `empty`, `find`, `add_in_place` and `with_added`.

#[cfg_attr(feature = "speed", path = "fast.rs")]
#[cfg_attr(not(feature = "speed"), path = "small.rs")]
mod imp;

pub(super) use imp::{LookupCache, add_in_place, empty, find, with_added};
