//! Hash frame of a Map or Dict. Entries are sorted by key hash, so that the hash does not depend on
//! insertion order.

use core::ops::Range;

use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::value::any::Any;

use super::super::hash_leaf::{hash_bits, hash_leaf, hash_plain};
use super::node::HashNode;
use crate::dataclass::combine;
use crate::structural::DefRegion;
use crate::walk::{IdentityMap, MapSlots, prefetch_next, sort};

/// A map entry whose key has been hashed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct HashedEntry {
    key: u64,
    value: EntryValue,
}

/// Value of a [`HashedEntry`]: its hash if known, otherwise its position.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum EntryValue {
    /// Hash of a number or string.
    Hashed(u64),
    /// Slot index of the entry in its map, for any other value.
    At(u64),
}

/// The entries of one map in `Hasher::entries`, sorted by key hash.
pub(super) struct Collected {
    /// Range of the entries in `Hasher::entries`.
    pub range: Range<usize>,
    /// Whether all values are numbers and strings.
    pub is_flat: bool,
}

/// Hashes the keys of a map and all values that are numbers or strings, and appends the entries to
/// `entries`. Omits entries whose key is neither a number or string nor an object in `known`.
///
/// # Errors
/// MemoryError.
#[inline(always)]
pub(super) fn collect(
    map: &MapSlots<'_>,
    known: &IdentityMap<u64>,
    entries: &mut Buffer<HashedEntry>,
) -> Result<Collected> {
    let first = entries.len();
    entries.try_reserve(map.len())?;
    let mut collector = Collector { known, entries, is_flat: true };
    match map {
        MapSlots::Borrowed(map) => {
            let mut next = map.cursor();
            while let (Some(place), Some([key, value])) = (next.slot(), next.entry()) {
                collector.add(place, key, value)?;
                next.advance();
            }
        }
        MapSlots::Of(_) => collector.add_all(map)?,
    }
    let is_flat = collector.is_flat;
    sort(entries.get_mut(first..).unwrap_or_default());
    Ok(Collected { range: first..entries.len(), is_flat })
}

struct Collector<'h> {
    known: &'h IdentityMap<u64>,
    entries: &'h mut Buffer<HashedEntry>,
    is_flat: bool,
}

impl Collector<'_> {
    #[inline(always)]
    fn add(&mut self, place: u64, key: &Any, value: &Any) -> Result<()> {
        prefetch_next(key);
        let key = match hash_bits(key) {
            Some(hash) => hash,
            None => match self.known.get(key) {
                Some(hash) => *hash,
                None => return Ok(()),
            },
        };
        let value = match hash_plain(value) {
            Some(hash) => EntryValue::Hashed(hash),
            None => {
                self.is_flat = false;
                EntryValue::At(place)
            }
        };
        Ok(self.entries.try_push(HashedEntry { key, value })?)
    }

    #[inline(never)]
    fn add_all(&mut self, map: &MapSlots<'_>) -> Result<()> {
        map.for_each(|place, key, value| self.add(place, key, value))
    }
}

/// Range of the entries not hashed yet, and the hash so far.
pub(super) struct RemainingEntries {
    pub range: Range<usize>,
    pub hash: u64,
}

impl RemainingEntries {
    /// Hashes entries up to and including the next key whose value has no hash yet. Returns the
    /// slot index of that entry, `None` at the end.
    #[inline(always)]
    pub(super) fn next(&mut self, entries: &[HashedEntry]) -> Option<u64> {
        let mut rest = entries.get(self.range.clone()).unwrap_or_default();
        let mut hash = self.hash;
        let place = loop {
            let [entry, others @ ..] = rest else { break None };
            rest = others;
            hash = combine(hash, entry.key);
            if others.first().is_some_and(|other| other.key == entry.key) {
                // Values of entries with equal key hashes have no order, so they do not count.
                rest = others.get(ties(others, entry.key)..).unwrap_or_default();
                continue;
            }
            match entry.value {
                EntryValue::Hashed(value) => hash = combine(hash, value),
                EntryValue::At(place) => break Some(place),
            }
        };
        self.hash = hash;
        self.range.start = self.range.end - rest.len();
        place
    }
}

/// Returns the number of leading entries with this key hash.
#[cold]
fn ties(entries: &[HashedEntry], key: u64) -> usize {
    entries.iter().take_while(|other| other.key == key).count()
}

/// A hash of a map in progress.
pub(super) struct EntriesHashFrame<'w> {
    map: MapSlots<'w>,
    region: DefRegion,
    is_shared: bool,
    /// Index of the map's first entry in `Hasher::entries`. The entries of nested maps follow.
    first: usize,
    pub rest: RemainingEntries,
}

impl<'w> EntriesHashFrame<'w> {
    #[inline(always)]
    pub(super) fn new(
        map: MapSlots<'w>,
        region: DefRegion,
        is_shared: bool,
        rest: RemainingEntries,
    ) -> Self {
        Self { map, region, is_shared, first: rest.range.start, rest }
    }

    /// Hashes leaves up to the next container or object, and returns it; `None` at the end. Skips
    /// entries that hooks have removed from a Dict, unless their values were numbers or strings.
    pub(super) fn next(
        &mut self,
        entries: &[HashedEntry],
        skip_tensor_content: bool,
    ) -> Result<Option<HashNode<'w>>> {
        while let Some(place) = self.rest.next(entries) {
            let _borrow = self.map.borrow()?;
            // SAFETY: just borrowed; hashing a leaf runs no user callback.
            let Some((_, value)) = (unsafe { self.map.peek(place) }) else { continue };
            match hash_leaf(value, skip_tensor_content)? {
                Some(hash) => self.rest.hash = combine(self.rest.hash, hash),
                None => {
                    // SAFETY: as above.
                    let value = unsafe { self.map.value(place) };
                    return Ok(value
                        .and_then(|value| HashNode::inside(value, self.region, self.is_shared)));
                }
            }
        }
        Ok(None)
    }

    /// Removes the entries of this map and of nested maps from the buffer.
    pub(super) fn forget_entries(&self, entries: &mut Buffer<HashedEntry>) {
        entries.truncate(self.first);
    }
}
