//! Maps of many entries that are all known: made in the size that they end in, without growth on the way.

use ferrite_core::any::AnyView;
use ferrite_core::error::Result;

use super::map_base::{Room, Table};
use super::map_dense::LEAST_SLOTS;
use super::map_small::MOST_CAPACITY;
use super::{MapObject, cell, key};

/// Entries whose places are asked for at once.
const AT_ONCE: usize = 8;

/// The map that inserting these keys and values one after the other makes, slot by slot: a table of fewer slots than keys grows
/// in any case, and after that it is as if it had always been larger.
///
/// None where that would not hold or is not worth it: for a key that is repeated, hashed by registered code or no value that a
/// map may hold, and for few entries.
///
/// # Errors
///
/// Those of [`MapObject::insert`].
pub(super) fn map_of(pairs: &[[AnyView<'_>; 2]]) -> Result<Option<MapObject>> {
    if pairs.len() <= MOST_CAPACITY {
        return Ok(None);
    }
    let slots = pairs.len().next_power_of_two().max(LEAST_SLOTS);
    let mut map = MapObject::of_slots(slots)?;
    for pairs in pairs.chunks(AT_ONCE) {
        let Some(hashes) = hashes(&map, pairs)? else { return Ok(None) };
        for ([key, value], hash) in pairs.iter().zip(hashes) {
            let Table::Dense(table) = map.table() else { return Ok(None) };
            let (owned, value) = (cell::own(key)?, cell::own(value)?);
            // SAFETY: nobody else knows the map; what has room is filled at once.
            unsafe {
                match table.room(key, hash)? {
                    Some(Room::Known(_)) => return Ok(None),
                    Some(room) => room.fill(owned, value),
                    None => map.insert(owned, value)?,
                }
            }
        }
    }
    Ok(Some(map))
}

/// The hashes of some keys, whose places in a map are asked for.
fn hashes(map: &MapObject, pairs: &[[AnyView<'_>; 2]]) -> Result<Option<[u64; AT_ONCE]>> {
    let mut hashes = [0; AT_ONCE];
    let Table::Dense(table) = map.table() else { return Ok(None) };
    for ([key, _], hash) in pairs.iter().zip(&mut hashes) {
        if cell::is_borrowed_form(key) || key::has_hash_hook(key.type_index()) {
            return Ok(None);
        }
        *hash = key::hash(key)?;
        table.prefetch_home(*hash);
    }
    Ok(Some(hashes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrite_core::any::Any;
    use ferrite_core::memory::Buffer;
    use ferrite_core::string::String;

    fn inserted(entries: &[[Any; 2]]) -> Result<MapObject> {
        let mut map = MapObject::with_capacity(0)?;
        for [key, value] in entries {
            map.insert(key.clone(), value.clone())?;
        }
        Ok(map)
    }

    fn at_once(entries: &[[Any; 2]]) -> Result<Option<MapObject>> {
        let mut pairs = Buffer::new();
        for [key, value] in entries {
            pairs.try_push([key.view(), value.view()])?;
        }
        map_of(&pairs)
    }

    /// Where each entry is, and how large the table is.
    fn layout(map: &MapObject) -> (usize, std::vec::Vec<(u64, u64)>) {
        let Table::Dense(table) = map.table() else { return (0, std::vec![]) };
        let places = core::iter::successors(map.first_place(), |place| map.next_place(*place));
        let key_at = |place| map.entry_refs(place).map_or(0, |(key, _)| key.view().payload_bits());
        (table.slots(), places.map(|place| (place, key_at(place))).collect())
    }

    #[test]
    fn every_entry_is_where_inserting_puts_it() -> Result<()> {
        let mut entries = std::vec![];
        for number in 0..if cfg!(miri) { 70i64 } else { 1_100 } {
            // Some keys share a home.
            let key = if number % 3 == 0 { number << 40 } else { number * 7919 };
            entries.push([Any::from(key), Any::new(String::new("a value of some length")?)]);
            match at_once(&entries)? {
                Some(map) => assert_eq!(layout(&map), layout(&inserted(&entries)?)),
                None => assert!(entries.len() <= MOST_CAPACITY),
            }
        }
        Ok(())
    }

    #[test]
    fn repeated_keys_are_left_to_inserting() -> Result<()> {
        let mut entries = std::vec![];
        for number in [1i64, 2, 3, 4, 5, 6, 3] {
            entries.push([Any::from(number), Any::from(number)]);
        }
        assert!(at_once(&entries)?.is_none());
        entries.pop();
        assert!(at_once(&entries)?.is_some());
        Ok(())
    }
}
