//! Construction of the Maps of a document, all of whose entries are known: with the keys of another
//! Map, in the same slots and without hashing, or by insertion, which limits collisions on hosts.
//!
//! `pairs` does the same for the arguments of a call, which may be any values.

use core::mem::{self, ManuallyDrop};

use ferrite_core::abi::type_index;
use ferrite_core::error::Result;
use ferrite_core::object::ObjectRef;
use ferrite_core::object::object_alloc::{Apart, Space};
use ferrite_core::platform::memory::Buffer;
use ferrite_core::value::any::{Any, AnyView};

use super::dense::{self, Dense};
use super::small::Small;
use super::view::Table;
use super::{insert, record};
use crate::containers::{cell, key};

#[cfg(feature = "speed")]
mod pairs;

/// Builds a Map or Dict, chosen by type index, with the same result as repeated insertion of the
/// entries.
///
/// # Errors
/// Errors of key hooks; MemoryError; errors of [`AnyView::to_owned`].
#[inline]
pub(crate) fn of_pairs(type_index: i32, pairs: &[[AnyView<'_>; 2]]) -> Result<ObjectRef> {
    #[cfg(feature = "speed")]
    if let Some(object) = pairs::of_pairs(type_index, pairs)? {
        return Ok(object);
    }
    // It grows as upstream's does: a key may be repeated.
    let object = record::allocate_small(type_index, 0, &mut Apart)?;
    for [key, value] in pairs {
        // SAFETY: the object is a Map or Dict without other references.
        unsafe { insert(&object, cell::own(key)?, cell::own(value)?) }?;
    }
    Ok(object)
}

/// Builds a Map from the alternating string keys and values in `values` at index `first` and above,
/// which move to the map. The last value of a repeated key wins.
///
/// # Errors
/// ValueError on hosts if too many keys collide; MemoryError. On failure each entry is released or
/// stays in `values`.
pub(crate) fn of_tail(
    values: &mut Buffer<Any>,
    first: usize,
    space: &mut impl Space,
) -> Result<ObjectRef> {
    let (entries, _) = values.get_mut(first..).unwrap_or_default().as_chunks_mut::<2>();
    let map = record::allocate_for(type_index::MAP, entries.len(), space)?;
    for [key, value] in entries {
        // SAFETY: the object is a Map without other references.
        unsafe { insert_text(&map, mem::take(key), mem::take(value)) }?;
    }
    values.forget_from(first);
    Ok(map)
}

/// Builds a Map with in-object storage from bitwise copies of `entries`. Returns `None` unless
/// their keys equal the keys of `pattern` in the same order.
///
/// # Errors
/// MemoryError.
///
/// # Safety
/// The pattern must not change during the call. If a Map is returned, the caller must forget the
/// entries.
pub(crate) unsafe fn with_keys_of(
    pattern: Table<'_>,
    entries: &[[Any; 2]],
    space: &mut impl Space,
) -> Result<Option<ObjectRef>> {
    if pattern.len() != entries.len() {
        return Ok(None);
    }
    match pattern {
        Table::Small(pattern) if has_small_keys(pattern, entries) => {
            small_with(entries, space).map(Some)
        }
        Table::Dense(pattern) => {
            // The compiler may keep a local copy of the fields in registers.
            let mut fields = pattern.fields();
            // SAFETY: a copy of the fields of a table that does not change is as good as they are.
            let pattern = unsafe { Dense::at(&raw mut fields) };
            if !has_dense_keys(pattern, entries) {
                return Ok(None);
            }
            dense_with(pattern, entries, space).map(Some)
        }
        Table::Small(_) => Ok(None),
    }
}

fn small_with(entries: &[[Any; 2]], space: &mut impl Space) -> Result<ObjectRef> {
    let map = record::allocate_small(type_index::MAP, entries.len(), space)?;
    // SAFETY: the object is a new Map, without other references, with the capacity for all entries,
    // whose words become its own.
    unsafe {
        if let Table::Small(table) = Table::of(&map) {
            table.append_words(entries);
        }
    }
    Ok(map)
}

fn dense_with(
    pattern: Dense<'_>,
    entries: &[[Any; 2]],
    space: &mut impl Space,
) -> Result<ObjectRef> {
    let bytes = dense::bytes_of(pattern.slots())?;
    // SAFETY: the storage is filled below: slots without entries are marked, and slots with entries
    // are copied.
    let map =
        unsafe { record::allocate_dense_inline(type_index::MAP, pattern.fields(), bytes, space) }?;
    // The table is complete only after the loop, in which nothing fails.
    let map = ManuallyDrop::new(map);
    // SAFETY: the object is a new Map, without other references, with the slots of the pattern.
    if let Table::Dense(table) = unsafe { Table::of(&map) } {
        let mut fields = table.fields();
        // SAFETY: as for the pattern, to whose slots those of the table are equal.
        let table = unsafe { Dense::at(&raw mut fields) };
        let mut slot = pattern.first_slot();
        for entry in entries {
            if !pattern.is_used(slot) {
                break;
            }
            // SAFETY: the slot is in use in the pattern, and the new table has the same one.
            unsafe {
                let (known, item) = (pattern.item(slot), table.item(slot));
                table.set_meta(slot, pattern.meta(slot));
                item.cast::<[Any; 2]>().copy_from_nonoverlapping(entry, 1);
                (*item).prev = (*known).prev;
                (*item).next = (*known).next;
                slot = (*known).next as usize;
            }
        }
    }
    Ok(ManuallyDrop::into_inner(map))
}

/// Returns `true` if the keys of `entries` equal the keys of a table in the same order. Calls no
/// hooks.
fn has_dense_keys(table: Dense<'_>, entries: &[[Any; 2]]) -> bool {
    let mut slot = table.first_slot();
    entries.iter().all(|[key, _]| {
        if !table.is_used(slot) {
            return false;
        }
        let item = table.item(slot);
        // SAFETY: the slot is in use, and no user callback runs.
        unsafe {
            slot = (*item).next as usize;
            is_key(AnyView::in_place(&(*item).key), key)
        }
    })
}

/// Implements [`has_dense_keys`] for small tables.
fn has_small_keys(table: Small<'_>, entries: &[[Any; 2]]) -> bool {
    entries.iter().enumerate().all(|(slot, [key, _])| {
        // SAFETY: the entry is in the table, and no user callback runs.
        table.entry(slot).is_some_and(|entry| is_key(unsafe { entry.key_view() }, key))
    })
}

/// Returns `true` if a key equals a known key. Most equal keys are bitwise equal: small strings,
/// and references to the same string object.
#[inline]
fn is_key(known: &AnyView<'_>, key: &Any) -> bool {
    key::same_words(known.as_raw(), key.as_raw())
        || key::equal_without_hook(known, &key.view()) == Some(true)
}

/// Insertion of keys from an untrusted document. Size-optimised builds do without: the memory of a
/// microcontroller limits the number of keys.
#[cfg(feature = "speed")]
mod limited {
    use ferrite_core::error::Error;
    use ferrite_core::plain_error;

    use super::*;
    use crate::containers::table::grow::grow;
    use crate::containers::table::layout::NO_SLOT;

    /// Maximum number of keys with the same home slot in one JSON object. The hash is part of the
    /// ABI and unkeyed, so the author of a document can make all keys collide, which would take
    /// quadratic time. Ordinary keys stay far below the limit: of all eight-digit numbers, 625
    /// share a hash.
    pub(super) const MOST_COLLISIONS: usize = 1024;

    /// Sets the value of a string key from an untrusted document.
    ///
    /// # Errors
    /// ValueError if too many keys collide; MemoryError. On failure the entries are unchanged.
    ///
    /// # Safety
    /// Same requirements as [`insert`](crate::containers::table::insert).
    #[inline(always)]
    pub(super) unsafe fn insert_text(map: &ObjectRef, key: Any, value: Any) -> Result<()> {
        // SAFETY: the caller guarantees the object and excludes other users.
        unsafe {
            let entry = loop {
                let view = key.view();
                let entry = match Table::of(map) {
                    Table::Dense(dense) if dense.len() != 0 => {
                        let hash = key::hash(&view)?;
                        dense.present_or_add(find_within_limit(dense, &view, hash)?, hash)
                    }
                    table => table.find_or_add(&view)?,
                };
                match entry {
                    Some(entry) => break entry,
                    None => grow(map)?,
                }
            };
            entry.fill(key, value);
        }
        Ok(())
    }

    /// Returns the slot of a string key, or [`NO_SLOT`]; ValueError if adding the key would make
    /// its chain too long.
    #[inline]
    fn find_within_limit(table: Dense<'_>, key: &AnyView<'_>, hash: u64) -> Result<usize> {
        let (text, mut steps) = (key.bytes_of_string().unwrap_or_default(), 0);
        let slot = table.find_where(hash, |slot| {
            steps += 1;
            table.prefetch_next_key(slot);
            // SAFETY: the slot is in use, and no user callback runs here.
            let present = unsafe { table.cells(slot).key_view() };
            key::same_words(present.as_raw(), key.as_raw()) || table.has_text(slot, text)
        });
        if slot == NO_SLOT && steps >= MOST_COLLISIONS { Err(too_many_collide()) } else { Ok(slot) }
    }

    #[cold]
    fn too_many_collide() -> Error {
        plain_error!(
            VALUE_ERROR,
            "More than {} keys of an object have hashes that collide",
            MOST_COLLISIONS
        )
    }
}
#[cfg(not(feature = "speed"))]
use super::insert as insert_text;
#[cfg(feature = "speed")]
use limited::insert_text;

#[cfg(test)]
mod tests;
