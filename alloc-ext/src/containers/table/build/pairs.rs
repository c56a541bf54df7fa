//! Construction of Maps and Dicts from the arguments of a call, in their final size.

use ferrite_core::abi::type_index;
use ferrite_core::error::Result;
use ferrite_core::object::ObjectRef;
use ferrite_core::object::object_alloc::Apart;
use ferrite_core::value::any::AnyView;

use crate::containers::table::dense::{self, Dense};
use crate::containers::table::entry::KeyEntry;
use crate::containers::table::small::{LEAST_CAPACITY, MOST_CAPACITY};
use crate::containers::table::view::Table;
use crate::containers::table::{insert, record};
use crate::containers::{cell, key};

/// Number of entries whose home slots are prefetched together.
const BATCH: usize = 8;

/// Builds a Map or Dict in its final size, with the same slots as after repeated insertion: a table
/// with fewer slots than keys must grow, and growth leaves it as if it had always been larger.
///
/// Returns `None` for entries that need repeated insertion: for a repeated key, a key that is
/// hashed by a hook or is not a valid map key, and a value that can be read only once.
///
/// # Errors
/// Errors of insertion.
pub(super) fn of_pairs(type_index: i32, pairs: &[[AnyView<'_>; 2]]) -> Result<Option<ObjectRef>> {
    if pairs.iter().any(is_excluded) {
        return Ok(None);
    }
    if pairs.len() <= MOST_CAPACITY {
        small_of(type_index, pairs)
    } else {
        dense_of(type_index, pairs)
    }
}

fn small_of(type_index: i32, pairs: &[[AnyView<'_>; 2]]) -> Result<Option<ObjectRef>> {
    let capacity = if pairs.len() <= LEAST_CAPACITY { LEAST_CAPACITY } else { MOST_CAPACITY };
    let object = record::allocate_small(type_index, capacity, &mut Apart)?;
    for [key, value] in pairs {
        let (owned, value) = (cell::own(key)?, cell::own(value)?);
        // SAFETY: the object is a Map or Dict without other references; a new entry is filled at
        // once.
        unsafe {
            match Table::of(&object).find_or_add(key)? {
                Some(KeyEntry::New(entry)) => entry.write(owned, value),
                _ => return Ok(None),
            }
        }
    }
    Ok(Some(object))
}

fn dense_of(type_index: i32, pairs: &[[AnyView<'_>; 2]]) -> Result<Option<ObjectRef>> {
    let slots = pairs.len().next_power_of_two().max(dense::LEAST_SLOTS);
    let object = record::adopt_dense(type_index, Dense::allocate(slots)?)?;
    for pairs in pairs.chunks(BATCH) {
        // SAFETY: the object is a Map or Dict.
        let Table::Dense(table) = (unsafe { Table::of(&object) }) else { return Ok(None) };
        for ([key, value], hash) in pairs.iter().zip(hashes(table, pairs)?) {
            let (owned, value) = (cell::own(key)?, cell::own(value)?);
            // SAFETY: the object has no other reference, and its fields stay in place when it
            // grows; a new entry is filled at once.
            unsafe {
                match table.find_or_add(key, hash)? {
                    Some(KeyEntry::Present(_)) => return Ok(None),
                    Some(entry) => entry.fill(owned, value),
                    None => insert(&object, owned, value)?,
                }
            }
        }
    }
    Ok(Some(object))
}

/// Returns `true` if the key is hashed by a hook or is not a valid map key, or if reading the value
/// would move it.
fn is_excluded([key, value]: &[AnyView<'_>; 2]) -> bool {
    type_index::is_view_only(key.type_index())
        || key::has_hash_hook(key.type_index())
        || value.type_index() == type_index::OBJECT_RVALUE_REF
}

/// Returns the hashes of up to [`BATCH`] keys, and prefetches their home slots.
fn hashes(table: Dense<'_>, pairs: &[[AnyView<'_>; 2]]) -> Result<[u64; BATCH]> {
    let mut hashes = [0; BATCH];
    for ([key, _], hash) in pairs.iter().zip(&mut hashes) {
        *hash = key::hash(key)?;
        table.prefetch_home(*hash);
    }
    Ok(hashes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::containers::{DictObject, MapObject};
    use ferrite_core::abi::type_index::{DICT, MAP};
    use ferrite_core::platform::memory::Buffer;
    use ferrite_core::value::any::Any;
    use ferrite_core::value::convert::AnyCompatible;
    use ferrite_core::value::string::String;

    fn inserted_map(entries: &[[Any; 2]]) -> Result<Any> {
        let mut map = MapObject::with_capacity(0)?;
        for [key, value] in entries {
            map.insert(key.clone(), value.clone())?;
        }
        Ok(map.into_any())
    }

    fn inserted_dict(entries: &[[Any; 2]]) -> Result<Any> {
        let dict = DictObject::with_capacity(0)?;
        for [key, value] in entries {
            dict.insert(key.clone(), value.clone())?;
        }
        Ok(dict.into_any())
    }

    fn built(type_index: i32, entries: &[[Any; 2]]) -> Result<Option<ObjectRef>> {
        let mut pairs = Buffer::new();
        for [key, value] in entries {
            pairs.try_push([key.view(), value.view()])?;
        }
        of_pairs(type_index, &pairs)
    }

    /// Returns the capacity of a table, and in order the slot and the words of each entry.
    fn layout(object: &ObjectRef) -> (usize, std::vec::Vec<(usize, [u64; 2])>) {
        // SAFETY: a Map or Dict, which does not change meanwhile.
        let table = unsafe { Table::of(object) };
        let capacity = match table {
            Table::Small(small) => small.capacity(),
            Table::Dense(dense) => dense.slots(),
        };
        let words = |slot| {
            table.entry(slot).map(|entry| {
                // SAFETY: as above.
                unsafe { entry.pair() }.each_ref().map(|cell| cell.view().payload_bits())
            })
        };
        let slots = core::iter::successors(table.first(), |slot| table.next(*slot));
        (capacity, slots.map(|slot| (slot, words(slot).unwrap_or_default())).collect())
    }

    #[test]
    fn every_entry_is_where_inserting_puts_it() -> Result<()> {
        let mut entries = std::vec![];
        for number in 0..if cfg!(miri) { 70i64 } else { 1_100 } {
            let inserted = [(MAP, inserted_map(&entries)?), (DICT, inserted_dict(&entries)?)];
            for (type_index, expected) in inserted {
                let object = built(type_index, &entries)?.expect("no key is excluded");
                assert_eq!(
                    (object.type_index(), layout(&object)),
                    (type_index, layout(&expected.get()?))
                );
            }
            // Some keys share a home.
            let key = if number % 3 == 0 { number << 40 } else { number * 7919 };
            entries.push([Any::from(key), Any::new(String::new("a value of some length")?)]);
        }
        Ok(())
    }

    #[test]
    fn repeated_keys_are_left_to_inserting() -> Result<()> {
        for numbers in [&[1i64, 2, 3, 4, 5, 6, 3][..], &[1, 2, 3, 3], &[1, 2, 1], &[7, 7]] {
            let entries: std::vec::Vec<_> =
                numbers.iter().map(|number| [Any::from(*number), Any::from(*number)]).collect();
            for type_index in [MAP, DICT] {
                assert!(built(type_index, &entries)?.is_none());
                assert!(built(type_index, &entries[..entries.len() - 1])?.is_some());
            }
        }
        Ok(())
    }

    #[test]
    fn values_that_reading_moves_are_excluded() -> Result<()> {
        let mut slot = String::new("longer than seven bytes")?
            .into_any()
            .get::<ObjectRef>()?
            .into_raw()
            .as_ptr();
        let cell = ferrite_core::abi::TVMFFIAny {
            type_index: type_index::OBJECT_RVALUE_REF,
            payload: ferrite_core::abi::TVMFFIAnyPayload { v_ptr: (&raw mut slot).cast() },
            ..ferrite_core::abi::TVMFFIAny::NONE
        };
        // SAFETY: the slot has an object, and outlives the view.
        let moving = unsafe { AnyView::from_raw(cell) };
        for len in [2i64, 9] {
            let mut pairs: std::vec::Vec<_> =
                (0..len).map(|key| [AnyView::from(key), AnyView::NONE]).collect();
            pairs[0][1] = moving;
            assert!(of_pairs(DICT, &pairs)?.is_none() && !slot.is_null());
        }
        drop(moving.to_owned()?);
        Ok(())
    }
}
