//! The sequences of a cache by id: adding, removing, forking and shortening them.
//!
//! | file | content |
//! |---|---|
//! | `map` | hash table of ids, on hosts |
//! | `sorted_map` | the same in builds without an operating system |

#[cfg_attr(not(feature = "std"), path = "sorted_map.rs")]
mod map;

use ferrite_core::error::{Error, Result};
use ferrite_core::platform::memory::Buffer;
use ferrite_core::{plain_ensure, plain_error};

use super::pages::PagePool;
use super::sequence::Sequence;
use map::SequenceMap;

/// Copies the first slots of a page to another page, for all layers: (source, target, number).
pub(super) type CopyPage<'a> = &'a dyn Fn(i32, i32, i32) -> Result<()>;

/// The sequences of a cache, and the pages that they share.
pub(super) struct Sequences {
    page_size: i32,
    pub(super) pool: PagePool,
    map: SequenceMap,
    entries: Buffer<Sequence>,
    /// Entries without a sequence.
    vacant: Buffer<u32>,
}

impl Sequences {
    /// Creates an empty set with capacity for `reserved` sequences over `pages` pages.
    ///
    /// # Errors
    /// MemoryError.
    pub(super) fn new(reserved: usize, pages: i32, page_size: i32) -> Result<Sequences> {
        let mut sequences = Sequences {
            page_size,
            pool: PagePool::new(pages)?,
            map: SequenceMap::new(),
            entries: Buffer::new(),
            vacant: Buffer::new(),
        };
        sequences.map.try_reserve(reserved)?;
        sequences.entries.try_reserve(reserved)?;
        sequences.vacant.try_reserve(reserved)?;
        Ok(sequences)
    }

    /// Returns the number of sequences.
    pub(super) fn len(&self) -> usize {
        self.map.len()
    }

    /// Returns the sum of the lengths of all sequences.
    pub(super) fn total_length(&self) -> i64 {
        self.entries.iter().map(|sequence| i64::from(sequence.length)).sum()
    }

    /// Removes all sequences, and frees their memory.
    pub(super) fn clear(&mut self) {
        self.map.clear();
        self.entries.clear();
        self.vacant.clear();
        self.pool.clear();
    }

    /// Returns the entry of a sequence.
    ///
    /// # Errors
    /// InternalError if there is no such sequence.
    #[inline]
    pub(super) fn find(&self, id: i64) -> Result<usize> {
        self.map.get(id).map(|entry| entry as usize).ok_or_else(|| unknown(id))
    }

    /// Returns the sequence of an entry.
    #[inline]
    pub(super) fn at(&self, entry: usize) -> &Sequence {
        &self.entries[entry]
    }

    /// Returns the sequence of an entry, mutable, and the pages.
    #[inline]
    pub(super) fn at_mut(&mut self, entry: usize) -> (&mut Sequence, &mut PagePool) {
        (&mut self.entries.as_mut_slice()[entry], &mut self.pool)
    }

    /// Returns a sequence.
    ///
    /// # Errors
    /// InternalError if there is no such sequence.
    pub(super) fn get(&self, id: i64) -> Result<&Sequence> {
        self.find(id).map(|entry| self.at(entry))
    }

    /// Adds an empty sequence. Returns its entry.
    ///
    /// # Errors
    /// InternalError if there is such a sequence; MemoryError.
    pub(super) fn add(&mut self, id: i64) -> Result<usize> {
        plain_ensure!(
            self.map.get(id).is_none(),
            INTERNAL_ERROR,
            "Check failed: (seq_map_.find(seq_id) == seq_map_.end()) is false: The sequence \"{}\" is already in the KV cache.",
            &id
        );
        self.add_new(id)
    }

    fn add_new(&mut self, id: i64) -> Result<usize> {
        self.map.try_reserve(1)?;
        let entry = match self.vacant.as_slice().last() {
            Some(entry) => *entry as usize,
            None => {
                // Room to remove it again.
                self.vacant.try_reserve(self.entries.len() + 1)?;
                self.entries.try_push(Sequence::default())?;
                self.entries.len() - 1
            }
        };
        if self.vacant.as_slice().last() == Some(&(entry as u32)) {
            self.vacant.pop();
        }
        self.map.insert(id, entry as u32);
        Ok(entry)
    }

    /// Removes a sequence, and frees the pages that no other sequence shares.
    ///
    /// # Errors
    /// InternalError if there is no such sequence.
    pub(super) fn remove(&mut self, id: i64) -> Result<()> {
        let entry = self.map.remove(id).ok_or_else(|| unknown(id))?;
        let (sequence, pool) = self.at_mut(entry as usize);
        sequence.reset(pool);
        // The capacity was reserved when the entry was made.
        let _ = self.vacant.try_push(entry);
        Ok(())
    }

    /// Adds a sequence with the first `position` tokens of another one; -1 for all. Full pages are
    /// shared, and the used part of the page in which the position lies is copied.
    ///
    /// # Errors
    /// InternalError if there is no such parent, the child exists, the position is out of bounds,
    /// below the sink of a window, or the cache is full; MemoryError; errors of the kernel.
    pub(super) fn fork(
        &mut self,
        parent: i64,
        child: i64,
        position: i64,
        copy: CopyPage<'_>,
    ) -> Result<()> {
        let (from, position) = self.check_fork(parent, child, position)?;
        let (shared, rest) = ((position / self.page_size) as usize, position % self.page_size);
        let mut pages = Buffer::try_with_capacity(shared + usize::from(rest != 0))?;
        pages.try_extend_from_slice(&self.at(from).pages[..shared])?;
        if rest != 0 {
            let copied = self.copied_page(self.at(from).pages[shared], rest, copy)?;
            pages.try_push(copied)?;
        }
        let entry = match self.add_new(child) {
            Ok(entry) => entry,
            Err(error) => {
                if let Some(copied) = pages.get(shared) {
                    self.pool.release(*copied);
                }
                return Err(error);
            }
        };
        for page in &pages[..shared] {
            self.pool.share(*page);
        }
        let whole = position - rest;
        let parent = &mut self.entries.as_mut_slice()[from];
        parent.shared = parent.shared.max(whole);
        let sequence = &mut self.entries.as_mut_slice()[entry];
        (sequence.pages, sequence.length, sequence.shared) = (pages, position, whole);
        Ok(())
    }

    /// Checks the arguments of a fork. Returns the parent's entry and the position.
    fn check_fork(&self, parent: i64, child: i64, position: i64) -> Result<(usize, i32)> {
        let Some(from) = self.map.get(parent) else {
            return Err(plain_error!(
                INTERNAL_ERROR,
                "Check failed: (parent_it != seq_map_.end()) is false: The parent sequence \"{}\" cannot be found in KV cache.",
                &parent
            ));
        };
        plain_ensure!(
            self.map.get(child).is_none(),
            INTERNAL_ERROR,
            "Check failed: (seq_map_.find(child_seq_id) == seq_map_.end()) is false: The child sequence \"{}\" is already in the KV \
             cache.",
            &child
        );
        plain_ensure!(
            position >= -1,
            INTERNAL_ERROR,
            "Check failed: fork_pos >= -1 ({} vs. -1) : The forked position should be non-negative, or -1 for last position as default.",
            &position
        );
        let sequence = self.at(from as usize);
        let length = i64::from(sequence.length);
        plain_ensure!(
            position <= length,
            INTERNAL_ERROR,
            "Check failed: fork_pos <= parent_it->second.seq_length ({} vs. {}) : The forked position should not exceed the total \
             length of parent sequence.",
            &position,
            &length
        );
        plain_ensure!(
            sequence.tree.is_committed(),
            INTERNAL_ERROR,
            "Check failed: (parent_it->second.accepted_indices_committed) is false: The parent sequence's token tree computed in the \
             last round of forward has not been committed with accepted nodes."
        );
        let position = if position == -1 { length } else { position };
        let sink = i64::from(sequence.unmovable());
        plain_ensure!(
            sequence.window == 0 || position <= sink,
            INTERNAL_ERROR,
            "Check failed: fork_pos <= sink_size ({} vs. {}) : The parent sequence \"{}\" is enabled with sliding window and thus \
             only can be forked within sink size = {}. But the forked position = {}.",
            &position,
            &sink,
            &parent,
            &sink,
            &position
        );
        Ok((from as usize, position as i32))
    }

    /// Takes a page and copies the first slots of another page into it.
    fn copied_page(&mut self, page: i32, slots: i32, copy: CopyPage<'_>) -> Result<i32> {
        let target = self.pool.take().ok_or_else(full)?;
        if let Err(error) = copy(page, target, slots) {
            self.pool.release(target);
            return Err(error);
        }
        Ok(target)
    }

    /// Removes the last `count` tokens of a sequence. If a shared page is left in part, that part
    /// is copied.
    ///
    /// # Errors
    /// InternalError if there is no such sequence, the count is negative or greater than the
    /// length, or the cache is full; errors of the kernel.
    pub(super) fn shorten(&mut self, id: i64, count: i64, copy: CopyPage<'_>) -> Result<()> {
        let entry = self.find(id)?;
        plain_ensure!(
            count >= 0,
            INTERNAL_ERROR,
            "Check failed: n >= 0 ({} vs. 0) : The length of popping {} cannot be negative.",
            &count,
            &count
        );
        let length = i64::from(self.at(entry).length);
        plain_ensure!(
            count <= length,
            INTERNAL_ERROR,
            "Check failed: n <= it->second.seq_length ({} vs. {}) : The sequence only has length {}, while the length of pop is {} \
             which exceeds the whole sequence length.",
            &count,
            &length,
            &length,
            &count
        );
        self.shorten_at(entry, count as i32, copy)
    }

    /// Removes the last `count` tokens of the sequence in an entry, which must have as many.
    ///
    /// # Errors
    /// InternalError if the cache is full; errors of the kernel.
    pub(super) fn shorten_at(
        &mut self,
        entry: usize,
        count: i32,
        copy: CopyPage<'_>,
    ) -> Result<()> {
        if count == 0 {
            return Ok(());
        }
        let (sequence, page_size) = (self.at(entry), self.page_size);
        let last = sequence.partial_page_without(page_size, count);
        let partial = sequence
            .pages
            .get(last.page)
            .copied()
            .filter(|page| last.used != 0 && self.pool.is_shared(*page));
        if let Some(page) = partial {
            let copied = self.copied_page(page, last.used, copy)?;
            let (sequence, pool) = self.at_mut(entry);
            pool.release(page);
            sequence.pages.as_mut_slice()[last.page] = copied;
        }
        let (sequence, pool) = self.at_mut(entry);
        sequence.shorten(pool, page_size, count);
        Ok(())
    }
}

/// Returns the error of an id without a sequence.
#[cold]
fn unknown(id: i64) -> Error {
    plain_error!(
        INTERNAL_ERROR,
        "Check failed: (it != seq_map_.end()) is false: The sequence \"{}\" cannot be found in KV cache.",
        &id
    )
}

/// Returns the error of a cache without enough free pages.
#[cold]
pub(super) fn full() -> Error {
    plain_error!(
        INTERNAL_ERROR,
        "Check failed: (!free_page_ids_.empty()) is false: The KV cache is full. No page can be allocated."
    )
}

#[cfg(test)]
mod tests;
