//! The functions that a module found for host code, by name.
#![forbid(unsafe_code)]

use core::ptr::NonNull;

use ferrite_core::abi::TVMFFIObject;
use ferrite_core::error::Result;
use ferrite_core::{Any, AnyView, Function, String};

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
///
/// # Errors
/// `MemoryError`.
pub(super) fn find(cache: &LookupCache, name: &String) -> Result<Option<NonNull<TVMFFIObject>>> {
    Ok(cache.get(AnyView::from(name))?.and_then(|function| function.view().object_ptr()))
}

/// Adds the function of a name that is not there.
///
/// # Errors
/// `MemoryError`.
pub(super) fn add(cache: &mut LookupCache, name: &String, function: Function) -> Result<()> {
    cache.insert(Any::from(name.clone()), Any::from(function))
}
