//! Maps and Dicts while they are hashed: their entries go by the hashes of their keys, so that their order does not count.

use core::ops::Range;

use ferrite_core::any::Any;
use ferrite_core::error::Result;
use ferrite_core::memory::Buffer;

use super::super::hash_leaf::{hash_bits, hash_leaf, hash_plain};
use super::node::Node;
use crate::dataclass::combine;
use crate::structural::DefRegion;
use crate::walk::{IdentityMap, MapSlots, prefetch_next, sort};

/// An entry whose key is hashed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct HashedEntry {
    key: u64,
    value: Value,
}

/// The value of an entry whose key is hashed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Value {
    /// The hash of a number or string.
    Hashed(u64),
    /// The place of the entry, whose value is anything else.
    At(u64),
}

/// The entries of a map in the order of the hashes of their keys, before any of them is hashed.
pub(super) struct Collected {
    /// Where they are.
    pub range: Range<usize>,
    /// Whether all values are numbers and strings.
    pub is_flat: bool,
}

/// Hashes the keys of a map, and those values that are numbers and strings. Entries whose key has no hash by itself and is
/// not `known` are left out.
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
            Some(hash) => Value::Hashed(hash),
            None => {
                self.is_flat = false;
                Value::At(place)
            }
        };
        Ok(self.entries.try_push(HashedEntry { key, value })?)
    }

    #[inline(never)]
    fn add_all(&mut self, map: &MapSlots<'_>) -> Result<()> {
        let mut next = map.first();
        while let Some(place) = next {
            // SAFETY: known hashes, and those of numbers and strings, run no code of users.
            if let Some((key, value)) = unsafe { map.peek(place) } {
                self.add(place, key, value)?;
            }
            next = map.after(place);
        }
        Ok(())
    }
}

/// The entries of a map that are not hashed yet, and the hash of those before.
pub(super) struct Rest {
    pub range: Range<usize>,
    pub hash: u64,
}

impl Rest {
    /// Takes entries into the hash up to one whose value is not hashed yet, and gives the place of that one.
    #[inline(always)]
    pub(super) fn next(&mut self, entries: &[HashedEntry]) -> Option<u64> {
        let mut rest = entries.get(self.range.clone()).unwrap_or_default();
        let mut hash = self.hash;
        let place = loop {
            let [entry, others @ ..] = rest else { break None };
            rest = others;
            hash = combine(hash, entry.key);
            if others.first().is_some_and(|other| other.key == entry.key) {
                // Their values have no order and do not count.
                rest = others.get(ties(others, entry.key)..).unwrap_or_default();
                continue;
            }
            match entry.value {
                Value::Hashed(value) => hash = combine(hash, value),
                Value::At(place) => break Some(place),
            }
        };
        self.hash = hash;
        self.range.start = self.range.end - rest.len();
        place
    }
}

/// How many entries at the front have a key of this hash.
#[cold]
fn ties(entries: &[HashedEntry], key: u64) -> usize {
    entries.iter().take_while(|other| other.key == key).count()
}

/// A map whose values are being hashed.
pub(super) struct EntriesFrame<'w> {
    map: MapSlots<'w>,
    region: DefRegion,
    is_shared: bool,
    /// Where its entries begin; those of maps in it are behind them.
    first: usize,
    pub rest: Rest,
}

impl<'w> EntriesFrame<'w> {
    #[inline(always)]
    pub(super) fn new(map: MapSlots<'w>, region: DefRegion, is_shared: bool, rest: Rest) -> Self {
        Self { map, region, is_shared, first: rest.range.start, rest }
    }

    /// Entries that hooks have taken out of a Dict meanwhile do not count, unless their values are numbers or strings.
    pub(super) fn next(
        &mut self,
        entries: &[HashedEntry],
        skip_tensor_content: bool,
    ) -> Result<Option<Node<'w>>> {
        while let Some(place) = self.rest.next(entries) {
            // SAFETY: the hash of a value that has nothing inside runs no code of users.
            let Some((_, value)) = (unsafe { self.map.peek(place) }) else { continue };
            match hash_leaf(value, skip_tensor_content)? {
                Some(hash) => self.rest.hash = combine(self.rest.hash, hash),
                None => {
                    let value = self.map.value(place);
                    return Ok(value.and_then(|value| Node::inside(value, self.region, self.is_shared)));
                }
            }
        }
        Ok(None)
    }

    /// Gives up the entries of a map that is at its end, and of maps in it.
    pub(super) fn forget_entries(&self, entries: &mut Buffer<HashedEntry>) {
        entries.truncate(self.first);
    }
}
