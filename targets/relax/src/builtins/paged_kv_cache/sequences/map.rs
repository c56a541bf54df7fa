//! Map of sequence ids to entries: a hash table. Ids come from outside.

use core::hash::BuildHasher;
use std::hash::RandomState;

use ferrite_core::error::{Result, out_of_memory};
use hashbrown::HashTable;

/// Entry numbers by sequence id.
pub(super) struct SequenceMap {
    table: HashTable<(i64, u32)>,
    hasher: IdHasher,
}

/// Multiplicative hash with a random key, so that chosen ids do not collide.
struct IdHasher(u64);

impl IdHasher {
    fn new() -> IdHasher {
        IdHasher(RandomState::new().hash_one(0u8) | 1)
    }

    #[inline]
    fn hash(&self, id: i64) -> u64 {
        let product = u128::from(id.cast_unsigned() ^ self.0) * u128::from(self.0 | 1 << 63);
        product as u64 ^ (product >> 64) as u64
    }
}

impl SequenceMap {
    /// Creates an empty map.
    pub(super) fn new() -> SequenceMap {
        SequenceMap { table: HashTable::new(), hasher: IdHasher::new() }
    }

    /// Reserves capacity for `count` more ids.
    ///
    /// # Errors
    /// MemoryError.
    pub(super) fn try_reserve(&mut self, count: usize) -> Result<()> {
        let hasher = &self.hasher;
        let reserved = self.table.try_reserve(count, |(id, _)| hasher.hash(*id));
        reserved.map_err(|_| out_of_memory(count.saturating_mul(size_of::<(i64, u32)>())))
    }

    /// Returns the entry of a sequence.
    #[inline]
    pub(super) fn get(&self, id: i64) -> Option<u32> {
        self.table.find(self.hasher.hash(id), |(key, _)| *key == id).map(|(_, entry)| *entry)
    }

    /// Adds a sequence that the map does not have. Its capacity must be reserved.
    pub(super) fn insert(&mut self, id: i64, entry: u32) {
        let hasher = &self.hasher;
        self.table.insert_unique(hasher.hash(id), (id, entry), |(id, _)| hasher.hash(*id));
    }

    /// Removes a sequence. Returns its entry.
    pub(super) fn remove(&mut self, id: i64) -> Option<u32> {
        let found = self.table.find_entry(self.hasher.hash(id), |(key, _)| *key == id);
        found.ok().map(|found| found.remove().0.1)
    }

    /// Returns the number of sequences.
    pub(super) fn len(&self) -> usize {
        self.table.len()
    }

    /// Removes all sequences.
    pub(super) fn clear(&mut self) {
        self.table.clear();
    }
}
