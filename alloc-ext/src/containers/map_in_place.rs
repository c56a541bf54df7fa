//! Insertion into a table whose object stays: when an entry does not fit, all move to other storage.

use ferrite_core::any::Any;
use ferrite_core::error::Result;
use ferrite_core::object::ObjectRef;

use super::map_base;
use super::map_build;
use super::map_table::Table;

/// Sets the value of a key.
///
/// # Errors
/// What key hooks raise; MemoryError. The entries are unchanged then.
///
/// # Safety
/// The object is a Map or Dict, and nobody else uses it now; key hooks may.
#[cfg_attr(feature = "std", inline)]
pub(super) unsafe fn insert(object: &ObjectRef, key: Any, value: Any) -> Result<()> {
    // SAFETY: the caller vouches for the object and excludes other users.
    unsafe {
        let room = loop {
            match Table::of(object).room(&key.view())? {
                Some(room) => break room,
                None => grow(object)?,
            }
        };
        room.fill(key, value);
    }
    Ok(())
}

/// Goes over to larger storage.
unsafe fn grow(object: &ObjectRef) -> Result<()> {
    // SAFETY: the caller excludes other users; the entries are forgotten where the new storage has them.
    unsafe {
        let table = Table::of(object);
        if let Table::Small(small) = table
            && let Some(capacity) = small.larger()
        {
            small.switch_block(map_build::small_block(table, capacity)?, capacity);
            return Ok(());
        }
        let fields = map_build::dense(table)?;
        Table::of(object).forget_entries();
        map_base::fields_of(object.as_ptr()).write(fields);
    }
    Ok(())
}
