//! A table made after another one with the same keys: entries go to the same places, and nothing is hashed or looked for.

use core::mem::ManuallyDrop;

use ferrite_core::any::{Any, AnyView};
use ferrite_core::error::Result;
use ferrite_core::object::ObjectRef;
use ferrite_core::object_alloc::Space;
use ferrite_core::type_index;

use super::map_base;
use super::map_dense::{self, Dense};
use super::map_small::Small;
use super::map_table::Table;
use super::{cell, key};

/// A Map that has its table in the object, with the words of `entries`; None where their keys are not those of `pattern` in
/// the same order.
///
/// # Errors
/// MemoryError when the memory is not there.
///
/// # Safety
/// Nobody changes the pattern meanwhile. When there is a twin, the caller forgets the entries.
pub(super) unsafe fn twin(
    pattern: Table<'_>,
    entries: &[[Any; 2]],
    space: &mut impl Space,
) -> Result<Option<ObjectRef>> {
    if pattern.len() != entries.len() {
        return Ok(None);
    }
    match pattern {
        Table::Small(pattern) if has_small_keys(pattern, entries) => small_twin(entries, space).map(Some),
        Table::Dense(pattern) => {
            // Where the table is, read once.
            let mut fields = pattern.fields();
            // SAFETY: a copy of the fields of a table that does not change is as good as they are.
            let pattern = unsafe { Dense::at(&raw mut fields) };
            if !has_dense_keys(pattern, entries) {
                return Ok(None);
            }
            dense_twin(pattern, entries, space).map(Some)
        }
        Table::Small(_) => Ok(None),
    }
}

fn small_twin(entries: &[[Any; 2]], space: &mut impl Space) -> Result<ObjectRef> {
    let twin = map_base::allocate_small(type_index::MAP, entries.len(), space)?;
    // SAFETY: the object is a new Map, known to nobody, with room for as many entries, whose words become its own.
    unsafe {
        if let Table::Small(table) = Table::of(&twin) {
            table.append_words(entries);
        }
    }
    Ok(twin)
}

fn dense_twin(pattern: Dense<'_>, entries: &[[Any; 2]], space: &mut impl Space) -> Result<ObjectRef> {
    let bytes = map_dense::bytes_of(pattern.slots())?;
    // SAFETY: what is allocated is filled at once: slots without entries are marked, those of entries are copied below.
    let twin = unsafe { map_base::allocate_dense_in_place(type_index::MAP, pattern.fields(), bytes, space) }?;
    // The table is whole only after the loop, in which nothing fails.
    let twin = ManuallyDrop::new(twin);
    // SAFETY: the object is a new Map, known to nobody, with the slots of the pattern.
    if let Table::Dense(table) = unsafe { Table::of(&twin) } {
        let mut fields = table.fields();
        // SAFETY: as for the pattern, to whose slots those of the table are equal.
        let table = unsafe { Dense::at(&raw mut fields) };
        let mut slot = pattern.first_slot();
        for entry in entries {
            if !pattern.is_used(slot) {
                break;
            }
            // SAFETY: the slot is in use in the pattern, and there is the same one in the twin.
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
    Ok(ManuallyDrop::into_inner(twin))
}

/// Whether the keys of a table are these, in this order, as far as can be told without hooks.
fn has_dense_keys(table: Dense<'_>, entries: &[[Any; 2]]) -> bool {
    let mut slot = table.first_slot();
    entries.iter().all(|[key, _]| {
        if !table.is_used(slot) {
            return false;
        }
        let item = table.item(slot);
        // SAFETY: the slot is in use, and no foreign code runs.
        unsafe {
            slot = (*item).next as usize;
            is_key(cell::borrow(&raw const (*item).key), key)
        }
    })
}

/// As [`has_dense_keys`], for a small table.
fn has_small_keys(table: Small<'_>, entries: &[[Any; 2]]) -> bool {
    entries.iter().enumerate().all(|(place, [key, _])| {
        // SAFETY: the entry is in the table, and no foreign code runs.
        table.entry(place).is_some_and(|entry| is_key(unsafe { cell::borrow(entry.key()) }, key))
    })
}

/// Whether a key equals a known one, which most are by their words: those of short texts, and of long ones that are shared.
#[inline]
fn is_key(known: &AnyView<'_>, key: &Any) -> bool {
    cell::same_words(known.as_raw(), key.as_raw())
        || key::equal_without_hook(known, &key.view()) == Some(true)
}

#[cfg(test)]
mod tests {
    use super::super::MapObject;
    use super::*;
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
    fn a_twin_is_the_map_that_hashing_makes() -> Result<()> {
        let pattern = MapObject::of_tail(&mut tail_of(&KEYS, 0)?, 0, &mut Apart)?;
        let mut tail = tail_of(&KEYS, 10)?;
        let mut twin = pattern.twin_of_tail(&mut tail, 0, &mut Apart)?.expect("the same keys");
        assert!(tail.is_empty());
        let hashed = MapObject::of_tail(&mut tail_of(&KEYS, 10)?, 0, &mut Apart)?;
        assert_eq!(texts(&twin), texts(&hashed));
        for key in KEYS {
            let key = Any::new(String::new(key)?);
            assert_eq!(twin.at(key.view())?.get::<String>()?, hashed.at(key.view())?.get::<String>()?);
        }
        // It changes and grows as any other map.
        let shared = twin.clone();
        for number in 0..20i64 {
            twin.insert(Any::from(number), Any::new(String::new("a value of its own")?))?;
        }
        twin.remove(Any::from(3i64).view())?;
        assert_eq!((twin.len(), shared.len()), (25, 6));
        assert_eq!(texts(&shared), texts(&hashed));
        Ok(())
    }

    #[test]
    fn other_keys_have_no_twin() -> Result<()> {
        let pattern = MapObject::of_tail(&mut tail_of(&KEYS, 0)?, 0, &mut Apart)?;
        let mut others = [KEYS; 3];
        others[0].swap(0, 1);
        others[1][5] = "another key again";
        others[2][5] = "id";
        for keys in others {
            let mut tail = tail_of(&keys, 0)?;
            assert!(pattern.twin_of_tail(&mut tail, 0, &mut Apart)?.is_none());
            assert_eq!(tail.len(), 2 * keys.len());
        }
        assert!(pattern.twin_of_tail(&mut tail_of(&KEYS[..5], 0)?, 0, &mut Apart)?.is_none());
        Ok(())
    }

    #[test]
    fn a_twin_that_finds_no_memory_leaves_the_entries() -> Result<()> {
        let pattern = MapObject::of_tail(&mut tail_of(&KEYS, 0)?, 0, &mut Apart)?;
        super::super::faults::with_every_refusal(|| {
            let Ok(mut tail) = tail_of(&KEYS, 0) else { return };
            let found = pattern.twin_of_tail(&mut tail, 0, &mut Apart).map(|twin| twin.is_some());
            assert_eq!(tail.len(), if found.is_ok() { 0 } else { 2 * KEYS.len() });
            assert!(found.unwrap_or(true));
        });
        Ok(())
    }
}
