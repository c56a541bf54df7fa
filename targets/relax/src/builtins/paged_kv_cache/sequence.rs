//! One sequence: its page table, its sliding window and its token tree.
//!
//! Position `i` of a sequence is in slot `i` of its pages while the window has not slid. Once it
//! has, the positions below `pinned` stay in their slots, and the slots from `offset` on contain
//! the positions from `pinned` on: slots between them contain tokens that have left the window.

use ferrite_core::error::Result;
use ferrite_core::plain_ensure;
use ferrite_core::platform::memory::Buffer;

use super::pages::PagePool;
use super::tree::TokenTree;

/// A sequence of tokens, whose keys and values are in the slots of its pages.
#[derive(Default)]
pub(super) struct Sequence {
    /// Pages in the order of the positions.
    pub(super) pages: Buffer<i32>,
    /// Number of cached tokens.
    pub(super) length: i32,
    /// Number of tokens in pages that were ever shared with another sequence. They never slide.
    pub(super) shared: i32,
    /// Size of the sliding window; 0 if there is none.
    pub(super) window: i32,
    /// Number of first tokens that stay in the window.
    pub(super) sink: i32,
    /// Number of tokens before the first slot of the window; 0 before the window slides.
    pub(super) pinned: i32,
    /// First slot of the window.
    pub(super) offset: i32,
    /// Tokens whose branch is not chosen yet.
    pub(super) tree: TokenTree,
    /// Number of the step that a batch contains the sequence in, to find duplicates.
    pub(super) step: u32,
}

impl Sequence {
    /// Returns the number of slots up to the last token.
    #[inline]
    pub(super) fn slots(&self) -> i32 {
        self.length - self.pinned + self.offset
    }

    /// Returns the place of a position in the tensors of pages: page number × page size + slot in
    /// the page.
    #[inline]
    pub(super) fn place(&self, position: i32, page_size: i32) -> i32 {
        let slot =
            if position < self.pinned { position } else { position - self.pinned + self.offset };
        let page = self.pages.get((slot / page_size) as usize).copied().unwrap_or(0);
        page * page_size + slot % page_size
    }

    /// Returns the number of used slots in the last page; 0 without tokens.
    #[inline]
    pub(super) fn last_page_length(&self, page_size: i32) -> i32 {
        match self.slots() {
            0 => 0,
            slots => (slots - 1) % page_size + 1,
        }
    }

    /// Returns the number of first tokens that never leave the window: the attention sink, or the
    /// shared prefix if that is longer.
    pub(super) fn unmovable(&self) -> i32 {
        self.shared.max(self.sink)
    }

    /// Removes all pages from index `first` on.
    pub(super) fn release_pages(&mut self, pool: &mut PagePool, first: usize) {
        for page in self.pages.get(first..).unwrap_or_default() {
            pool.release(*page);
        }
        self.pages.truncate(first);
    }

    /// Removes all tokens and pages, and keeps the capacity for the next sequence in this entry.
    pub(super) fn reset(&mut self, pool: &mut PagePool) {
        self.release_pages(pool, 0);
        let (pages, mut tree) = (core::mem::take(&mut self.pages), core::mem::take(&mut self.tree));
        tree.clear();
        *self = Sequence { pages, tree, ..Sequence::default() };
    }

    /// Removes the last `count` tokens, and the pages that only they needed. The last page must not
    /// be shared if it is left in part: [`Shortening`] has the page to copy.
    pub(super) fn shorten(&mut self, pool: &mut PagePool, page_size: i32, count: i32) {
        self.length -= count;
        if self.length <= self.pinned {
            // Nothing of the window is left.
            (self.pinned, self.offset) = (0, 0);
        }
        self.release_pages(pool, pages_for(self.slots(), page_size));
        self.shared = self.shared.min(self.length / page_size * page_size);
    }

    /// Returns the page that shortening by `count` tokens leaves in part.
    pub(super) fn partial_page_without(&self, page_size: i32, count: i32) -> Shortening {
        let length = self.length - count;
        let slots = if length <= self.pinned { length } else { self.slots() - count };
        Shortening { page: (slots / page_size) as usize, used: slots % page_size }
    }

    /// Gives the sequence a sliding window, the first `sink` tokens of which stay.
    ///
    /// # Errors
    /// InternalError for sizes out of bounds, a shared prefix that fills the window, and if the
    /// sequence has a window.
    pub(super) fn set_window(&mut self, size: i64, sink: i64) -> Result<()> {
        plain_ensure!(
            sink >= 0,
            INTERNAL_ERROR,
            "Check failed: attn_sink_size >= 0 ({} vs. 0) : The specified attention sink size is expected to be non negative",
            &sink
        );
        plain_ensure!(
            size > 0 && size <= i64::from(i32::MAX),
            INTERNAL_ERROR,
            "Check failed: sliding_window_size > 0 ({} vs. 0) : The specified sliding window size should be positive.",
            &size
        );
        plain_ensure!(
            sink < size,
            INTERNAL_ERROR,
            "Check failed: attn_sink_size < sliding_window_size ({} vs. {}) : The attn sink size should be less than the sliding \
             window size.",
            &sink,
            &size
        );
        plain_ensure!(
            self.window == 0,
            INTERNAL_ERROR,
            "Check failed: it->second.sliding_window_size == -1 ({} vs. -1) : A sequence cannot be enabled twice for sliding window.",
            &i64::from(self.window)
        );
        plain_ensure!(
            i64::from(self.shared) < size,
            INTERNAL_ERROR,
            "The shared prefix of {} tokens never slides, and leaves no room in a sliding window of {}",
            &i64::from(self.shared),
            &size
        );
        (self.window, self.sink) = (size as i32, sink as i32);
        Ok(())
    }

    /// Gives an empty sequence `length` tokens, in pages that the pool must have.
    ///
    /// # Errors
    /// MemoryError.
    pub(super) fn fill(&mut self, pool: &mut PagePool, page_size: i32, length: i32) -> Result<()> {
        let count = pages_for(length, page_size);
        self.reserve_pages(count)?;
        for page in (0..count).map_while(|_| pool.take()) {
            self.pages.try_push(page)?;
        }
        self.length = length;
        Ok(())
    }

    /// Reserves capacity for a number of pages in all.
    ///
    /// # Errors
    /// MemoryError.
    pub(super) fn reserve_pages(&mut self, count: usize) -> Result<()> {
        self.pages.try_reserve(count.saturating_sub(self.pages.len()))?;
        Ok(())
    }
}

/// The last page of a sequence after it is shortened.
pub(super) struct Shortening {
    /// Index in the page table.
    pub(super) page: usize,
    /// Number of used slots; 0 if the page is not needed.
    pub(super) used: i32,
}

/// Returns the number of pages for a number of slots.
#[inline]
pub(super) fn pages_for(slots: i32, page_size: i32) -> usize {
    slots.unsigned_abs().div_ceil(page_size.unsigned_abs().max(1)) as usize
}
