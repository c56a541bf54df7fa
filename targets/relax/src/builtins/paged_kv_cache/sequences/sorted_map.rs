//! Map of sequence ids to entries: a sorted list, for builds without an operating system, which
//! have few sequences and no allocator of Rust's `alloc` crate for a hash table.

use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;

/// Entry numbers by sequence id.
pub(super) struct SequenceMap(Buffer<(i64, u32)>);

impl SequenceMap {
    /// Creates an empty map.
    pub(super) fn new() -> SequenceMap {
        SequenceMap(Buffer::new())
    }

    /// Reserves capacity for `count` more ids.
    ///
    /// # Errors
    /// MemoryError.
    pub(super) fn try_reserve(&mut self, count: usize) -> Result<()> {
        Ok(self.0.try_reserve(count)?)
    }

    fn find(&self, id: i64) -> core::result::Result<usize, usize> {
        self.0.as_slice().binary_search_by_key(&id, |(key, _)| *key)
    }

    /// Returns the entry of a sequence.
    pub(super) fn get(&self, id: i64) -> Option<u32> {
        let at = self.find(id).ok()?;
        self.0.get(at).map(|(_, entry)| *entry)
    }

    /// Adds a sequence that the map does not have. Its capacity must be reserved.
    pub(super) fn insert(&mut self, id: i64, entry: u32) {
        if let Err(at) = self.find(id)
            && self.0.try_push((id, entry)).is_ok()
            && let Some(tail) = self.0.as_mut_slice().get_mut(at..)
        {
            tail.rotate_right(1);
        }
    }

    /// Removes a sequence. Returns its entry.
    pub(super) fn remove(&mut self, id: i64) -> Option<u32> {
        let at = self.find(id).ok()?;
        self.0.remove(at).map(|(_, entry)| entry)
    }

    /// Returns the number of sequences.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Removes all sequences.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}
