//! Lookup cache for size-optimised builds: an Array of alternating names and functions with linear
//! search, so that programs with a system library do not link the hash table.
#![forbid(unsafe_code)]

use core::ptr::NonNull;

use ferrite_core::abi::TVMFFIObject;
use ferrite_core::error::Result;
use ferrite_core::{Any, String};

pub(in crate::module) use crate::containers::ArrayObject as LookupCache;

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
    let (entries, _) = cache.as_slice().as_chunks::<2>();
    let is_of_name = |entry: &&[Any; 2]| entry[0].view().bytes_of_string() == Some(name.as_bytes());
    entries.iter().find(is_of_name)?[1].view().object_ptr()
}

/// Returns `false`: nothing was inserted.
pub(in crate::module) fn add_in_place(
    _cache: &mut LookupCache,
    _name: &String,
    _function: &Any,
) -> bool {
    false
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
    let mut cache = cache.clone();
    cache.extend_from_slice(&[Any::from(name.clone()), function.clone()])?;
    Ok(cache)
}
