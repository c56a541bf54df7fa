//! The functions that a module found for host code, found by comparing one name after the other: firmware asks for few, and
//! a system library then needs no hash table.
#![forbid(unsafe_code)]

use core::ptr::NonNull;

use ferrite_core::abi::TVMFFIObject;
use ferrite_core::error::Result;
use ferrite_core::{Any, String};

/// An Array of names and functions in turns.
pub(super) use crate::containers::ArrayObject as LookupCache;

/// A cache without entries.
///
/// # Errors
/// `MemoryError`.
pub(super) fn empty() -> Result<LookupCache> {
    LookupCache::with_capacity(0)
}

/// The function of a name, if it is there; the cache holds it.
pub(super) fn find(cache: &LookupCache, name: &String) -> Option<NonNull<TVMFFIObject>> {
    let (entries, _) = cache.as_slice().as_chunks::<2>();
    let is_of_name = |entry: &&[Any; 2]| entry[0].view().bytes_of_string() == Some(name.as_bytes());
    entries.iter().find(is_of_name)?[1].view().object_ptr()
}

/// Never adds: there is no room to spare.
pub(super) fn add_in_place(_cache: &mut LookupCache, _name: &String, _function: &Any) -> bool {
    false
}

/// A new cache that also has the function of a name.
///
/// # Errors
/// `MemoryError`.
pub(super) fn with_added(cache: &LookupCache, name: &String, function: &Any) -> Result<LookupCache> {
    let mut cache = cache.clone();
    cache.extend_from_slice(&[Any::from(name.clone()), function.clone()])?;
    Ok(cache)
}
