//! Entries into a map that nobody else holds, where speed counts: what does not fit goes to a new object with all else.

use ferrite_core::any::Any;
use ferrite_core::error::Result;
use ferrite_core::object::ObjectRef;
use ferrite_core::object_alloc::Apart;
use ferrite_core::type_index;

use super::map_base::{self, Inserted, Table, TableFields};
use super::map_build::Growth;
use super::map_dense::Dense;

/// Sets the value of a key.
///
/// # Errors
///
/// What key hooks raise; MemoryError. The entries are unchanged then.
///
/// # Safety
///
/// The object is a Map, and this is the only reference to it.
#[inline(always)]
pub(super) unsafe fn insert(map: &mut ObjectRef, key: Any, value: Any) -> Result<()> {
    // SAFETY: the caller vouches for the object and excludes other users.
    unsafe {
        match Table::of(map).insert(key, value)? {
            Inserted::Done(old) => drop(old),
            Inserted::Full(key, value) => insert_growing(map, key, value)?,
            Inserted::Outgrown(key, value) => insert_dense(map, key, value)?,
        }
    }
    Ok(())
}

/// Goes over to a dense table, which has room.
unsafe fn insert_dense(map: &mut ObjectRef, key: Any, value: Any) -> Result<()> {
    // SAFETY: as for `insert_growing`.
    unsafe {
        let fresh = adopt(Table::of(map).dense_twin()?)?;
        Table::of(map).forget_entries();
        *map = fresh;
        insert(map, key, value)
    }
}

/// Goes over to a new object that also has the entry of a new key.
unsafe fn insert_growing(map: &mut ObjectRef, key: Any, value: Any) -> Result<()> {
    // SAFETY: the map is unshared; its entries are forgotten as soon as the new object has them.
    unsafe {
        let fresh = match Table::of(map).grown(&key)? {
            Growth::Small(capacity) => moved_to_small(Table::of(map), capacity, key, value)?,
            Growth::Dense(fields, entry) => {
                let object = adopt(fields)?;
                entry.write(key, value);
                object
            }
        };
        Table::of(map).forget_entries();
        *map = fresh;
    }
    Ok(())
}

/// # Safety
///
/// The caller forgets the entries of the table.
unsafe fn moved_to_small(table: Table<'_>, capacity: usize, key: Any, value: Any) -> Result<ObjectRef> {
    let fresh = map_base::allocate_small(type_index::MAP, capacity, &mut Apart)?;
    // SAFETY: the new map is small and has room for all entries and one more.
    unsafe {
        if let Table::Small(target) = Table::of(&fresh) {
            for entry in table.entries() {
                target.cells_at(target.len()).move_from(entry);
                (*target.fields).size += 1;
            }
            target.append(key, value);
        }
    }
    Ok(fresh)
}

/// Creates an object that takes over a dense table whose entries still belong to another: on failure only the storage is
/// released.
fn adopt(mut fields: TableFields) -> Result<ObjectRef> {
    let object = map_base::allocate_dense(type_index::MAP, fields);
    if object.is_err() {
        // SAFETY: nobody else knows the table.
        unsafe { Dense::at(&raw mut fields).forget_entries() }
    }
    object
}
