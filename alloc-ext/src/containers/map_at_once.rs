//! Maps and Dicts whose entries are all known: made in the size that they end in, without growth on the way.

use ferrite_core::any::AnyView;
use ferrite_core::error::Result;
use ferrite_core::object::ObjectRef;
use ferrite_core::object_alloc::Apart;
use ferrite_core::type_index;

use super::map_base;
use super::map_dense::{Dense, LEAST_SLOTS};
use super::map_small::{LEAST_CAPACITY, MOST_CAPACITY};
use super::map_table::{Room, Table};
use super::{cell, key, map_in_place};

/// Entries whose places are asked for at once.
const AT_ONCE: usize = 8;

/// The Map or Dict, as the type index says, that inserting these keys and values one after the other makes, slot by slot: a
/// table of less room than keys grows in any case, and after that it is as if it had always been larger.
///
/// None where that would not hold or is not worth it, to insert them one after the other instead: for a key that is repeated,
/// hashed by registered code or no value that a map may hold, and for a value that could be taken only once.
///
/// # Errors
/// Those of [`MapObject::insert`](super::MapObject::insert).
pub(super) fn object_of(type_index: i32, pairs: &[[AnyView<'_>; 2]]) -> Result<Option<ObjectRef>> {
    if pairs.iter().any(is_left_out) {
        return Ok(None);
    }
    if pairs.len() <= MOST_CAPACITY { small_of(type_index, pairs) } else { dense_of(type_index, pairs) }
}

fn small_of(type_index: i32, pairs: &[[AnyView<'_>; 2]]) -> Result<Option<ObjectRef>> {
    let capacity = if pairs.len() <= LEAST_CAPACITY { LEAST_CAPACITY } else { MOST_CAPACITY };
    let object = map_base::allocate_small(type_index, capacity, &mut Apart)?;
    for [key, value] in pairs {
        let (owned, value) = (cell::own(key)?, cell::own(value)?);
        // SAFETY: the object is a Map or Dict that nobody else knows; what has room is filled at once.
        unsafe {
            match Table::of(&object).room(key)? {
                Some(Room::New(entry)) => entry.write(owned, value),
                _ => return Ok(None),
            }
        }
    }
    Ok(Some(object))
}

fn dense_of(type_index: i32, pairs: &[[AnyView<'_>; 2]]) -> Result<Option<ObjectRef>> {
    let slots = pairs.len().next_power_of_two().max(LEAST_SLOTS);
    let object = map_base::allocate_dense_of(type_index, slots)?;
    for pairs in pairs.chunks(AT_ONCE) {
        // SAFETY: the object is a Map or Dict.
        let Table::Dense(table) = (unsafe { Table::of(&object) }) else { return Ok(None) };
        for ([key, value], hash) in pairs.iter().zip(hashes(table, pairs)?) {
            let (owned, value) = (cell::own(key)?, cell::own(value)?);
            // SAFETY: nobody else knows the object, whose fields stay where they are when it grows; what has room is filled at
            // once.
            unsafe {
                match table.room(key, hash)? {
                    Some(Room::Known(_)) => return Ok(None),
                    Some(room) => room.fill(owned, value),
                    None => map_in_place::insert(&object, owned, value)?,
                }
            }
        }
    }
    Ok(Some(object))
}

/// Whether a key is hashed by registered code or no value that a map may hold, or the value moves when it is looked at.
fn is_left_out([key, value]: &[AnyView<'_>; 2]) -> bool {
    cell::is_borrowed_form(key)
        || key::has_hash_hook(key.type_index())
        || value.type_index() == type_index::OBJECT_RVALUE_REF
}

/// The hashes of some keys, whose places in a table are asked for.
fn hashes(table: Dense<'_>, pairs: &[[AnyView<'_>; 2]]) -> Result<[u64; AT_ONCE]> {
    let mut hashes = [0; AT_ONCE];
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
    use ferrite_core::any::Any;
    use ferrite_core::convert::AnyCompatible;
    use ferrite_core::memory::Buffer;
    use ferrite_core::string::String;
    use ferrite_core::type_index::{DICT, MAP};

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

    fn at_once(type_index: i32, entries: &[[Any; 2]]) -> Result<Option<ObjectRef>> {
        let mut pairs = Buffer::new();
        for [key, value] in entries {
            pairs.try_push([key.view(), value.view()])?;
        }
        object_of(type_index, &pairs)
    }

    /// The room of a table, and in order where each entry is and what its words are.
    fn layout(object: &ObjectRef) -> (usize, std::vec::Vec<(usize, [u64; 2])>) {
        // SAFETY: a Map or Dict, which does not change meanwhile.
        let table = unsafe { Table::of(object) };
        let room = match table {
            Table::Small(small) => small.capacity(),
            Table::Dense(dense) => dense.slots(),
        };
        let words = |place| {
            // SAFETY: as above.
            table
                .entry(place)
                .map(|entry| unsafe { entry.pair() }.each_ref().map(|cell| cell.view().payload_bits()))
        };
        let places = core::iter::successors(table.first(), |place| table.next(*place));
        (room, places.map(|place| (place, words(place).unwrap_or_default())).collect())
    }

    #[test]
    fn every_entry_is_where_inserting_puts_it() -> Result<()> {
        let mut entries = std::vec![];
        for number in 0..if cfg!(miri) { 70i64 } else { 1_100 } {
            let one_by_one = [(MAP, inserted_map(&entries)?), (DICT, inserted_dict(&entries)?)];
            for (type_index, expected) in one_by_one {
                let object = at_once(type_index, &entries)?.expect("no key is left out");
                assert_eq!((object.type_index(), layout(&object)), (type_index, layout(&expected.get()?)));
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
                assert!(at_once(type_index, &entries)?.is_none());
                assert!(at_once(type_index, &entries[..entries.len() - 1])?.is_some());
            }
        }
        Ok(())
    }

    #[test]
    fn what_moves_when_it_is_looked_at_is_left_alone() -> Result<()> {
        let mut slot =
            String::new("longer than seven bytes")?.into_any().get::<ObjectRef>()?.into_raw().as_ptr();
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
            assert!(object_of(DICT, &pairs)?.is_none() && !slot.is_null());
        }
        drop(moving.to_owned()?);
        Ok(())
    }
}
