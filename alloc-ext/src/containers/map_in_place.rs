//! Entries into a table whose object stays: what does not fit goes to other storage with all else.

use ferrite_core::any::Any;
use ferrite_core::error::Result;
use ferrite_core::object::ObjectRef;

use super::map_base::{self, Inserted, Table};
use super::map_build::{self, Growth};

/// Sets the value of a key.
///
/// # Errors
///
/// What key hooks raise; MemoryError. The entries are unchanged then.
///
/// # Safety
///
/// The object is a Map or Dict, and nobody else uses it now; key hooks may.
#[cfg_attr(feature = "std", inline)]
pub(super) unsafe fn insert(object: &ObjectRef, key: Any, value: Any) -> Result<()> {
    // SAFETY: the caller vouches for the object and excludes other users.
    unsafe {
        match Table::of(object).insert(key, value)? {
            Inserted::Done(old) => drop(old),
            Inserted::Full(key, value) => insert_growing(object, key, value)?,
            Inserted::Outgrown(key, value) => insert_dense(object, key, value)?,
        }
    }
    Ok(())
}

/// Goes over to a dense table, which has room.
unsafe fn insert_dense(object: &ObjectRef, key: Any, value: Any) -> Result<()> {
    // SAFETY: as for `insert_growing`.
    unsafe {
        let fields = Table::of(object).dense_twin()?;
        Table::of(object).forget_entries();
        map_base::fields_of(object.as_ptr()).write(fields);
        insert(object, key, value)
    }
}

/// Goes over to larger storage that also has the entry of a new key.
unsafe fn insert_growing(object: &ObjectRef, key: Any, value: Any) -> Result<()> {
    // SAFETY: the caller excludes other users; the entries are forgotten where the new storage has them.
    unsafe {
        match Table::of(object).grown(&key)? {
            Growth::Small(capacity) => {
                let block = map_build::small_block(Table::of(object), capacity)?;
                if let Table::Small(table) = Table::of(object) {
                    table.switch_block(block, capacity);
                    table.append(key, value);
                }
            }
            Growth::Dense(fields, entry) => {
                Table::of(object).forget_entries();
                map_base::fields_of(object.as_ptr()).write(fields);
                entry.write(key, value);
            }
        }
    }
    Ok(())
}
