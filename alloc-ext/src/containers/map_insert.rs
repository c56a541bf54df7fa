//! Insertion into a map with one reference, where speed counts: when an entry does not fit, all move to a new object.

use ferrite_core::any::Any;
use ferrite_core::error::Result;
use ferrite_core::object::ObjectRef;
use ferrite_core::object_alloc::Apart;
use ferrite_core::type_index;

use super::key;
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

/// Inserts, as [`insert`] does, a key from a document that may be hostile.
///
/// # Errors
/// ValueError when too many keys collide; MemoryError. The entries are unchanged then.
///
/// # Safety
/// As for [`insert`].
#[inline(always)]
pub(super) unsafe fn insert_from_document(map: &mut ObjectRef, key: Any, value: Any) -> Result<()> {
    // SAFETY: the caller vouches for the object and excludes other users.
    unsafe {
        let room = loop {
            let view = key.view();
            let room = match Table::of(map) {
                Table::Dense(dense) if dense.len() != 0 => {
                    let hash = key::hash(&view)?;
                    dense.room_at(dense.find_in_document(&view, hash)?, hash)
                }
                table => table.room(&view)?,
            };
            match room {
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

#[cfg(test)]
mod tests {
    use ferrite_core::memory::Buffer;
    use ferrite_core::object_alloc::Apart;
    use ferrite_core::string::String;

    use super::*;
    use crate::containers::MapObject;
    use crate::containers::key::hash_bytes;
    use crate::containers::map_find::MOST_IN_CHAIN;

    /// Texts of eight letters with one hash for each `family`: 2^32 counts twice as much as 1 in it, so that what the first four
    /// letters lose the last four make up for.
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

    /// More keys than that are not made where each step takes long.
    const KEYS: usize = if cfg!(miri) { 1_100 } else { 29_000 };

    #[test]
    fn crafted_keys_have_one_hash() {
        let mut hashes = colliding(3).map(|key| hash_bytes(&key));
        let first = hashes.next();
        assert!(hashes.all(|hash| Some(hash) == first));
    }

    #[test]
    fn a_document_ends_with_the_first_chain_that_is_too_long() {
        let mut values = entries(colliding(0).take(KEYS));
        let error = MapObject::of_tail(&mut values, 0, &mut Apart).map(drop).unwrap_err();
        assert_eq!(error.kind(), b"ValueError");
        assert_eq!(error.message(), b"More than 1024 keys of an object have hashes that collide");
        // What was looked at was taken out: no key behind the one too many.
        let taken = values.iter().step_by(2).take_while(|key| key.is_none()).count();
        assert_eq!(taken, MOST_IN_CHAIN + 1);
    }

    #[test]
    #[cfg_attr(miri, ignore = "millions of steps along chains, which the tests of chains take in small")]
    fn as_many_as_allowed_collide() {
        let mut values = entries(colliding(0).take(MOST_IN_CHAIN).chain(colliding(1).take(MOST_IN_CHAIN)));
        let map = MapObject::of_tail(&mut values, 0, &mut Apart).unwrap();
        assert_eq!(map.len(), 2 * MOST_IN_CHAIN);
        for (key, number) in colliding(1).take(MOST_IN_CHAIN).zip(MOST_IN_CHAIN as i64..) {
            let key = String::from_bytes(&key).unwrap();
            assert_eq!(map.at((&key).into()).unwrap().get::<i64>().unwrap(), number);
        }
        // A key that comes again is no more of them.
        let mut values = entries(colliding(0).take(MOST_IN_CHAIN).chain(colliding(0).take(MOST_IN_CHAIN)));
        let map = MapObject::of_tail(&mut values, 0, &mut Apart).unwrap();
        assert_eq!(map.len(), MOST_IN_CHAIN);
    }
}
