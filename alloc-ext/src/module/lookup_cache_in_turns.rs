//! The functions that a module found for host code, found by comparing one name after the other: firmware asks for few, and
//! a system library then needs no hash table.
#![forbid(unsafe_code)]

use core::ptr::NonNull;

use ferrite_core::abi::TVMFFIObject;
use ferrite_core::error::Result;
use ferrite_core::{Any, Function, String};

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
///
/// # Errors
/// None: the signature is that of its faster twin.
pub(super) fn find(cache: &LookupCache, name: &String) -> Result<Option<NonNull<TVMFFIObject>>> {
    let (entries, _) = cache.as_slice().as_chunks::<2>();
    let is_of_name = |entry: &&[Any; 2]| entry[0].view().bytes_of_string() == Some(name.as_bytes());
    Ok(entries.iter().find(is_of_name).and_then(|entry| entry[1].view().object_ptr()))
}

/// Adds the function of a name that is not there.
///
/// # Errors
/// `MemoryError`.
pub(super) fn add(cache: &mut LookupCache, name: &String, function: Function) -> Result<()> {
    // Half an entry must not stay.
    cache.reserve(cache.len() + 2)?;
    cache.push(Any::from(name.clone()))?;
    cache.push(Any::from(function))
}
