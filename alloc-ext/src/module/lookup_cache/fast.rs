//! Lookup cache for speed-optimised builds: a Map from String to Function.
#![forbid(unsafe_code)]

use core::ptr::NonNull;

use ferrite_core::abi::TVMFFIObject;
use ferrite_core::error::Result;
use ferrite_core::{Any, AnyView, String};

pub(in crate::module) use crate::containers::MapObject as LookupCache;

/// Creates an empty cache.
///
/// # Errors
/// MemoryError.
pub(in crate::module) fn empty() -> Result<LookupCache> {
    LookupCache::with_capacity(0)
}

/// Looks up a function by name; `None` if the cache lacks the name. The result is borrowed from the
/// cache.
pub(in crate::module) fn find(cache: &LookupCache, name: &String) -> Option<NonNull<TVMFFIObject>> {
    // Lookups of this library's strings call no hooks and do not allocate, so they cannot fail.
    cache.get(AnyView::from(name)).ok().flatten()?.view().object_ptr()
}

/// Inserts a function under a new name if there is spare capacity and the cache is not shared.
/// Returns `true` if it was inserted. Does not allocate.
pub(in crate::module) fn add_in_place(
    cache: &mut LookupCache,
    name: &String,
    function: &Any,
) -> bool {
    cache.insert_in_place(Any::from(name.clone()), function.clone()).unwrap_or(false)
}

/// Returns a copy of the cache with one more function.
///
/// # Errors
/// MemoryError.
pub(in crate::module) fn with_added(
    cache: &LookupCache,
    name: &String,
    function: &Any,
) -> Result<LookupCache> {
    let mut cache = cache.copy()?;
    cache.insert(Any::from(name.clone()), function.clone())?;
    Ok(cache)
}
