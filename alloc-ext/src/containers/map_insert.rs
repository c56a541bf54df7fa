//! Insertion into a map with one reference, where speed counts: when an entry does not fit, all move to a new object.

use ferrite_core::any::Any;
use ferrite_core::error::Result;
use ferrite_core::object::ObjectRef;
use ferrite_core::object_alloc::Apart;
use ferrite_core::type_index;

use super::map_base;
use super::map_build;
use super::map_table::Table;

/// Sets the value of a key.
///
/// # Errors
/// What key hooks raise; MemoryError. The entries are unchanged then.
///
/// # Safety
/// The object is a Map, and this is the only reference to it.
#[inline(always)]
pub(super) unsafe fn insert(map: &mut ObjectRef, key: Any, value: Any) -> Result<()> {
    // SAFETY: the caller vouches for the object and excludes other users.
    unsafe {
        let room = loop {
            match Table::of(map).room(&key.view())? {
                Some(room) => break room,
                None => grow(map)?,
            }
        };
        room.fill(key, value);
    }
    Ok(())
}

/// Goes over to a new object.
unsafe fn grow(map: &mut ObjectRef) -> Result<()> {
    // SAFETY: the map is unshared; its entries are forgotten as soon as the new object has them.
    unsafe {
        let table = Table::of(map);
        let larger = if let Table::Small(small) = table { small.larger() } else { None };
        let fresh = match larger {
            Some(capacity) => moved_to_small(table, capacity)?,
            None => map_base::adopt_dense(type_index::MAP, map_build::dense(table)?)?,
        };
        Table::of(map).forget_entries();
        *map = fresh;
    }
    Ok(())
}

/// # Safety
/// The caller forgets the entries of the table.
unsafe fn moved_to_small(table: Table<'_>, capacity: usize) -> Result<ObjectRef> {
    let fresh = map_base::allocate_small(type_index::MAP, capacity, &mut Apart)?;
    // SAFETY: the new map is small and has room for all entries.
    unsafe {
        if let Table::Small(target) = Table::of(&fresh) {
            for entry in table.entries() {
                target.append().move_from(entry);
            }
        }
    }
    Ok(fresh)
}
