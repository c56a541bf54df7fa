//! Insertion into Maps and Dicts. A full table moves to larger storage within the same object.

use ferrite_core::error::Result;
use ferrite_core::object::ObjectRef;
use ferrite_core::value::any::Any;

use super::grow::grow;
use super::view::Table;

/// Sets the value of a key.
///
/// # Errors
/// Errors of key hooks; MemoryError. On failure the entries are unchanged.
///
/// # Safety
/// The object must be a Map or Dict that nothing else uses now, except that key hooks may use it.
#[inline]
pub(crate) unsafe fn insert(object: &ObjectRef, key: Any, value: Any) -> Result<()> {
    // SAFETY: the caller guarantees the object and excludes other users.
    unsafe {
        let entry = loop {
            match Table::of(object).find_or_add(&key.view())? {
                Some(entry) => break entry,
                None => grow(object)?,
            }
        };
        entry.fill(key, value);
    }
    Ok(())
}
