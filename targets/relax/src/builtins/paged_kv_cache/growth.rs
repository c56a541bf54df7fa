//! Growth of a sequence by the tokens of a step, and the slide of its window.
//!
//! The plan is computed first, for all sequences of a batch, so that a step for which pages are
//! lacking is refused before anything has changed.

use ferrite_core::platform::memory::Buffer;

use super::pages::PagePool;
use super::sequence::{Sequence, pages_for};

/// Numbers of a sequence after a step, and the changes of its page table.
#[derive(Clone, Copy, Default)]
pub(super) struct Growth {
    length: i32,
    pinned: i32,
    offset: i32,
    /// Index of the first page that the window leaves.
    first_left: u32,
    /// Number of pages that the window leaves, and which become free.
    pub(super) left: u32,
    /// Number of pages in all.
    pub(super) pages: u32,
    /// Number of pages to take.
    pub(super) taken: u32,
}

impl Growth {
    /// Plans the growth of a sequence by `count` tokens. Windows slide if `slides`.
    #[inline]
    pub(super) fn plan(sequence: &Sequence, count: i32, page_size: i32, slides: bool) -> Growth {
        let mut growth = Growth {
            length: sequence.length + count,
            pinned: sequence.pinned,
            offset: sequence.offset,
            ..Growth::default()
        };
        if slides && sequence.window != 0 && growth.length > sequence.window {
            growth.slide(sequence, page_size);
        }
        let slots = growth.length - growth.pinned + growth.offset;
        growth.pages = pages_for(slots, page_size) as u32;
        growth.taken = growth.pages.saturating_sub(sequence.pages.len() as u32 - growth.left);
        growth
    }

    /// Removes the oldest tokens after the pinned ones until the window's size is reached.
    fn slide(&mut self, sequence: &Sequence, page_size: i32) {
        if self.offset == 0 {
            // The first slide.
            self.pinned = sequence.unmovable();
            self.offset = self.pinned;
        }
        self.offset += self.length - sequence.window;
        self.length = sequence.window;
        let kept = pages_for(self.pinned, page_size) as u32;
        let left = ((self.offset / page_size) as u32).saturating_sub(kept);
        self.offset -= left as i32 * page_size;
        let present = (sequence.pages.len() as u32).saturating_sub(kept);
        (self.first_left, self.left) = (kept, left.min(present));
    }

    /// Frees the pages that the window leaves. All sequences of a batch do so before the first of
    /// them takes pages.
    pub(super) fn release_left(&self, sequence: &mut Sequence, pool: &mut PagePool) {
        if self.left == 0 {
            return;
        }
        let (first, left) = (self.first_left as usize, self.left as usize);
        let pages = sequence.pages.as_mut_slice();
        for page in &pages[first..first + left] {
            pool.release(*page);
        }
        pages.copy_within(first + left.., first);
        let len = pages.len() - left;
        sequence.pages.truncate(len);
    }

    /// Takes the planned pages and sets the planned length. The pool must have the pages, and the
    /// page table capacity for them.
    #[inline]
    pub(super) fn apply(&self, sequence: &mut Sequence, pool: &mut PagePool) {
        take_pages(&mut sequence.pages, pool, self.taken);
        sequence.length = self.length;
        sequence.pinned = self.pinned;
        sequence.offset = self.offset;
    }
}

#[inline]
fn take_pages(pages: &mut Buffer<i32>, pool: &mut PagePool, count: u32) {
    for _ in 0..count {
        if let Some(page) = pool.take() {
            // The capacity was reserved.
            let _ = pages.try_push(page);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrite_core::error::Result;

    const PAGE: i32 = 4;

    fn grow(sequence: &mut Sequence, pool: &mut PagePool, count: i32) {
        let growth = Growth::plan(sequence, count, PAGE, true);
        assert!(pool.available() + growth.left as usize >= growth.taken as usize);
        growth.release_left(sequence, pool);
        growth.apply(sequence, pool);
        assert_eq!(sequence.pages.len(), pages_for(sequence.slots(), PAGE));
    }

    #[test]
    fn a_sequence_without_window_takes_pages_as_it_grows() -> Result<()> {
        let (mut pool, mut sequence) = (PagePool::new(4)?, Sequence::default());
        for (count, pages) in [(3, 1), (1, 1), (1, 2), (7, 3)] {
            grow(&mut sequence, &mut pool, count);
            assert_eq!(sequence.pages.len(), pages);
        }
        assert_eq!((sequence.length, sequence.place(9, PAGE)), (12, 9));
        Ok(())
    }

    #[test]
    fn a_window_keeps_its_sink_and_its_last_tokens() -> Result<()> {
        let (mut pool, mut sequence) = (PagePool::new(5)?, Sequence::default());
        (sequence.window, sequence.sink) = (10, 2);
        grow(&mut sequence, &mut pool, 9);
        assert_eq!((sequence.pinned, sequence.offset, sequence.length), (0, 0, 9));
        grow(&mut sequence, &mut pool, 4);
        // Tokens 2, 3 and 4 left: the window begins in slot 5, and the sink's page stays.
        assert_eq!((sequence.pinned, sequence.offset, sequence.length), (2, 5, 10));
        assert_eq!((sequence.place(1, PAGE), sequence.place(2, PAGE)), (1, 5));
        grow(&mut sequence, &mut pool, 3);
        // Slot 8 would be the first: the page of slots 4 to 7 is free.
        assert_eq!((sequence.offset, &sequence.pages[..]), (4, &[0, 2, 3][..]));
        Ok(())
    }

    #[test]
    fn a_prompt_longer_than_its_window_needs_pages_for_the_window_only() -> Result<()> {
        let (mut pool, mut sequence) = (PagePool::new(3)?, Sequence::default());
        (sequence.window, sequence.sink) = (6, 1);
        grow(&mut sequence, &mut pool, 1000);
        assert!(sequence.pages.len() <= 3);
        assert_eq!((sequence.length, sequence.pinned), (6, 1));
        Ok(())
    }
}
