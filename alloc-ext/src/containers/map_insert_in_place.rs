//! Insertion into a map with one reference, where size counts: as into a dict.

use ferrite_core::any::Any;
use ferrite_core::error::Result;
use ferrite_core::object::ObjectRef;

use super::map_in_place;

/// Sets the value of a key.
///
/// # Errors
/// What key hooks raise; MemoryError. The entries are unchanged then.
///
/// # Safety
/// The object is a Map, and this is the only reference to it.
#[inline]
pub(super) unsafe fn insert(map: &mut ObjectRef, key: Any, value: Any) -> Result<()> {
    // SAFETY: passed on; Maps and Dicts have the same tables.
    unsafe { map_in_place::insert(map, key, value) }
}

/// Inserts as [`insert`] does: the memory of a board bounds how many keys can collide.
///
/// # Errors
/// As there.
///
/// # Safety
/// As there.
#[inline]
pub(super) unsafe fn insert_from_document(map: &mut ObjectRef, key: Any, value: Any) -> Result<()> {
    // SAFETY: passed on.
    unsafe { insert(map, key, value) }
}
