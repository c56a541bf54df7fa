//! Construction of a Map with the keys of another Map. Entries are stored in the same slots, without hashing or lookup.

use core::mem::ManuallyDrop;

use ferrite_core::any::{Any, AnyView};
use ferrite_core::error::Result;
use ferrite_core::object::ObjectRef;
use ferrite_core::object_alloc::Space;
use ferrite_core::type_index;

use crate::containers::key;
use crate::containers::table::dense::{self, Dense};
use crate::containers::table::record;
use crate::containers::table::small::Small;
use crate::containers::table::view::Table;

/// Builds a Map with in-object storage from bitwise copies of `entries`. Returns `None` unless their keys equal the keys of
/// `pattern` in the same order.
///
/// # Errors
/// MemoryError.
///
/// # Safety
/// The pattern must not change during the call. If a Map is returned, the caller must forget the entries.
pub(crate) unsafe fn with_keys_of(
    pattern: Table<'_>,
    entries: &[[Any; 2]],
    space: &mut impl Space,
) -> Result<Option<ObjectRef>> {
    if pattern.len() != entries.len() {
        return Ok(None);
    }
    match pattern {
        Table::Small(pattern) if has_small_keys(pattern, entries) => small_with(entries, space).map(Some),
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
    // SAFETY: the object is a new Map, without other references, with the capacity for all entries, whose words become its
    // own.
    unsafe {
        if let Table::Small(table) = Table::of(&map) {
            table.append_words(entries);
        }
    }
    Ok(map)
}

fn dense_with(pattern: Dense<'_>, entries: &[[Any; 2]], space: &mut impl Space) -> Result<ObjectRef> {
    let bytes = dense::bytes_of(pattern.slots())?;
    // SAFETY: the storage is filled below: slots without entries are marked, and slots with entries are copied.
    let map = unsafe { record::allocate_dense_inline(type_index::MAP, pattern.fields(), bytes, space) }?;
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

/// Returns `true` if the keys of `entries` equal the keys of a table in the same order. Calls no hooks.
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

/// Returns `true` if a key equals a known key. Most equal keys are bitwise equal: small strings, and references to the same
/// string object.
#[inline]
fn is_key(known: &AnyView<'_>, key: &Any) -> bool {
    key::same_words(known.as_raw(), key.as_raw()) || key::equal_without_hook(known, &key.view()) == Some(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::containers::MapObject;
    use ferrite_core::memory::Buffer;
    use ferrite_core::object_alloc::Apart;
    use ferrite_core::string::String;

    fn tail_of(keys: &[&str], value: i64) -> Result<Buffer<Any>> {
        let mut tail = Buffer::new();
        for (key, value) in keys.iter().zip(value..) {
            tail.try_push(Any::new(String::new(key)?))?;
            tail.try_push(Any::new(String::new(&std::format!("the value {value}"))?))?;
        }
        Ok(tail)
    }

    fn texts(map: &MapObject) -> std::string::String {
        std::format!("{:?}", map.iter().collect::<std::vec::Vec<_>>())
    }

    const KEYS: [&str; 6] = ["id", "name", "a longer key", "shape", "tags", "another long key"];

    #[test]
    fn the_map_is_the_one_that_hashing_makes() -> Result<()> {
        let pattern = MapObject::of_tail(&mut tail_of(&KEYS, 0)?, 0, &mut Apart)?;
        let mut tail = tail_of(&KEYS, 10)?;
        let mut map = pattern.with_same_keys(&mut tail, 0, &mut Apart)?.expect("the same keys");
        assert!(tail.is_empty());
        let hashed = MapObject::of_tail(&mut tail_of(&KEYS, 10)?, 0, &mut Apart)?;
        assert_eq!(texts(&map), texts(&hashed));
        for key in KEYS {
            let key = Any::new(String::new(key)?);
            assert_eq!(map.at(key.view())?.get::<String>()?, hashed.at(key.view())?.get::<String>()?);
        }
        // It changes and grows like any other map.
        let shared = map.clone();
        for number in 0..20i64 {
            map.insert(Any::from(number), Any::new(String::new("a value of its own")?))?;
        }
        map.remove(Any::from(3i64).view())?;
        assert_eq!((map.len(), shared.len()), (25, 6));
        assert_eq!(texts(&shared), texts(&hashed));
        Ok(())
    }

    #[test]
    fn other_keys_give_no_map() -> Result<()> {
        let pattern = MapObject::of_tail(&mut tail_of(&KEYS, 0)?, 0, &mut Apart)?;
        let mut others = [KEYS; 3];
        others[0].swap(0, 1);
        others[1][5] = "another key again";
        others[2][5] = "id";
        for keys in others {
            let mut tail = tail_of(&keys, 0)?;
            assert!(pattern.with_same_keys(&mut tail, 0, &mut Apart)?.is_none());
            assert_eq!(tail.len(), 2 * keys.len());
        }
        assert!(pattern.with_same_keys(&mut tail_of(&KEYS[..5], 0)?, 0, &mut Apart)?.is_none());
        Ok(())
    }

    #[test]
    fn without_memory_the_entries_stay() -> Result<()> {
        let pattern = MapObject::of_tail(&mut tail_of(&KEYS, 0)?, 0, &mut Apart)?;
        crate::containers::faults::with_every_refusal(|| {
            let Ok(mut tail) = tail_of(&KEYS, 0) else { return };
            let found = pattern.with_same_keys(&mut tail, 0, &mut Apart).map(|map| map.is_some());
            assert_eq!(tail.len(), if found.is_ok() { 0 } else { 2 * KEYS.len() });
            assert!(found.unwrap_or(true));
        });
        Ok(())
    }
}
