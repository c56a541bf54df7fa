//! The functions that a module found for host code, by name.
#![forbid(unsafe_code)]

use core::ptr::NonNull;

use ferrite_core::abi::TVMFFIObject;
use ferrite_core::error::Result;
use ferrite_core::{Any, AnyView, String};

/// A Map from String to Function.
pub(super) use crate::containers::MapObject as LookupCache;

/// A cache without entries.
///
/// # Errors
/// `MemoryError`.
pub(super) fn empty() -> Result<LookupCache> {
    LookupCache::with_capacity(0)
}

/// The function of a name, if it is there; the cache holds it.
pub(super) fn find(cache: &LookupCache, name: &String) -> Option<NonNull<TVMFFIObject>> {
    // Keys that are text of this library need neither hooks nor memory, so there is no error.
    cache.get(AnyView::from(name)).ok().flatten()?.view().object_ptr()
}

/// Adds the function of a name that is not there, when there is room for it and nobody else looks. Takes no memory.
pub(super) fn add_in_place(cache: &mut LookupCache, name: &String, function: &Any) -> bool {
    cache.insert_in_place(Any::from(name.clone()), function.clone()).unwrap_or(false)
}

/// A new cache that also has the function of a name.
///
/// # Errors
/// `MemoryError`.
pub(super) fn with_added(cache: &LookupCache, name: &String, function: &Any) -> Result<LookupCache> {
    let mut cache = cache.copy()?;
    cache.insert(Any::from(name.clone()), function.clone())?;
    Ok(cache)
}
