//! Speed-optimised bulk construction: tables are allocated in their final size, and collisions are limited.

use ferrite_core::any::{Any, AnyView};
use ferrite_core::error::{Error, Result};
use ferrite_core::object::ObjectRef;
use ferrite_core::object_alloc::Apart;
use ferrite_core::{plain_error, type_index};

use crate::containers::table::dense::{self, Dense};
use crate::containers::table::entry::KeyEntry;
use crate::containers::table::grow::grow;
use crate::containers::table::layout::NO_SLOT;
use crate::containers::table::small::{LEAST_CAPACITY, MOST_CAPACITY};
use crate::containers::table::view::Table;
use crate::containers::table::{insert, record};
use crate::containers::{cell, key};

/// Number of entries whose home slots are prefetched together.
const BATCH: usize = 8;

/// Maximum number of keys with the same home slot in one JSON object. The hash is part of the ABI and unkeyed, so the
/// author of a document can make all keys collide, which would take quadratic time. Ordinary keys stay far below the limit:
/// of all eight-digit numbers, 625 share a hash.
const MOST_COLLISIONS: usize = 1024;

/// Builds a Map or Dict in its final size, slot by slot the same as by repeated insertion: a table with fewer slots than
/// keys must grow, and growth leaves it as if it had always been larger.
///
/// Returns `None` for entries that need repeated insertion: for a repeated key, a key that is hashed by a hook or is not a
/// valid map key, and a value that can be read only once.
///
/// # Errors
/// Errors of insertion.
pub(super) fn of_pairs(type_index: i32, pairs: &[[AnyView<'_>; 2]]) -> Result<Option<ObjectRef>> {
    if pairs.iter().any(is_excluded) {
        return Ok(None);
    }
    if pairs.len() <= MOST_CAPACITY { small_of(type_index, pairs) } else { dense_of(type_index, pairs) }
}

fn small_of(type_index: i32, pairs: &[[AnyView<'_>; 2]]) -> Result<Option<ObjectRef>> {
    let capacity = if pairs.len() <= LEAST_CAPACITY { LEAST_CAPACITY } else { MOST_CAPACITY };
    let object = record::allocate_small(type_index, capacity, &mut Apart)?;
    for [key, value] in pairs {
        let (owned, value) = (cell::own(key)?, cell::own(value)?);
        // SAFETY: the object is a Map or Dict without other references; a new entry is filled at once.
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
            // SAFETY: the object has no other reference, and its fields stay in place when it grows; a new entry is filled at
            // once.
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

/// Returns `true` if the key is hashed by a hook or is not a valid map key, or if reading the value would move it.
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

/// Sets the value of a string key from an untrusted document.
///
/// # Errors
/// ValueError if too many keys collide; MemoryError. On failure the entries are unchanged.
///
/// # Safety
/// The contract of [`insert`](super::super::insert).
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

/// Returns the slot of a string key, or [`NO_SLOT`]; ValueError if adding the key would make its chain too long.
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
    plain_error!(VALUE_ERROR, "More than {} keys of an object have hashes that collide", MOST_COLLISIONS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::containers::{DictObject, MapObject};
    use ferrite_core::convert::AnyCompatible;
    use ferrite_core::memory::Buffer;
    use ferrite_core::string::String;
    use ferrite_core::type_index::{DICT, MAP};

    use crate::containers::key::hash_bytes;

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
            // SAFETY: as above.
            table
                .entry(slot)
                .map(|entry| unsafe { entry.pair() }.each_ref().map(|cell| cell.view().payload_bits()))
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
                assert!(built(type_index, &entries)?.is_none());
                assert!(built(type_index, &entries[..entries.len() - 1])?.is_some());
            }
        }
        Ok(())
    }

    #[test]
    fn values_that_reading_moves_are_excluded() -> Result<()> {
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
            assert!(of_pairs(DICT, &pairs)?.is_none() && !slot.is_null());
        }
        drop(moving.to_owned()?);
        Ok(())
    }

    /// Returns strings of eight letters with one hash for each `family`: 2^32 counts twice as much as 1 in it, so that what
    /// the first four letters lose the last four make up for.
    fn colliding(family: u8) -> impl Iterator<Item = [u8; 8]> {
        (0..31 * 31 * 31_u32).map(move |number| {
            let digits = [number % 31, number / 31 % 31, number / 961].map(|digit| digit as u8);
            let [a, b, c] = digits;
            [b'q' - 2 * a, b'q' - 2 * b, b'q' - 2 * c, b'a' + family, b'`' + a, b'`' + b, b'`' + c, b'a']
        })
    }

    fn entries(keys: impl Iterator<Item = [u8; 8]>) -> Buffer<Any> {
        let mut values = Buffer::new();
        for (key, number) in keys.zip(0i64..) {
            values.try_push(Any::new(String::from_bytes(&key).unwrap())).unwrap();
            values.try_push(Any::from(number)).unwrap();
        }
        values
    }

    /// Number of keys, fewer where each step takes long.
    const KEYS: usize = if cfg!(miri) { 1_100 } else { 29_000 };

    #[test]
    fn crafted_keys_have_one_hash() {
        let mut hashes = colliding(3).map(|key| hash_bytes(&key));
        let first = hashes.next();
        assert!(hashes.all(|hash| Some(hash) == first));
    }

    #[test]
    #[cfg_attr(miri, ignore = "half a million steps along a chain, which the tests of chains take in small")]
    #[cfg_attr(not(feature = "std"), ignore = "takes more memory than the pool of a build without std")]
    fn a_document_ends_with_the_first_chain_that_is_too_long() {
        let mut values = entries(colliding(0).take(KEYS));
        let error = MapObject::of_tail(&mut values, 0, &mut Apart).map(drop).unwrap_err();
        assert_eq!(error.kind_bytes(), b"ValueError");
        assert_eq!(error.message_bytes(), b"More than 1024 keys of an object have hashes that collide");
        // Keys up to the one too many were moved out, none behind it.
        let taken = values.iter().step_by(2).take_while(|key| key.is_none()).count();
        assert_eq!(taken, MOST_COLLISIONS + 1);
    }

    #[test]
    #[cfg_attr(miri, ignore = "millions of steps along chains, which the tests of chains take in small")]
    fn as_many_as_allowed_collide() {
        let mut values =
            entries(colliding(0).take(MOST_COLLISIONS).chain(colliding(1).take(MOST_COLLISIONS)));
        let map = MapObject::of_tail(&mut values, 0, &mut Apart).unwrap();
        assert_eq!(map.len(), 2 * MOST_COLLISIONS);
        for (key, number) in colliding(1).take(MOST_COLLISIONS).zip(MOST_COLLISIONS as i64..) {
            let key = String::from_bytes(&key).unwrap();
            assert_eq!(map.at((&key).into()).unwrap().get::<i64>().unwrap(), number);
        }
        // A repeated key does not count again.
        let mut values =
            entries(colliding(0).take(MOST_COLLISIONS).chain(colliding(0).take(MOST_COLLISIONS)));
        let map = MapObject::of_tail(&mut values, 0, &mut Apart).unwrap();
        assert_eq!(map.len(), MOST_COLLISIONS);
    }
}
