//! Page pool: the free list and the reference count of each page.

use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;

/// The pages of a cache. A page that several sequences share counts each of them.
///
/// All memory is allocated at creation, so taking and releasing pages never fails for lack of it.
pub(super) struct PagePool {
    /// Free pages. The last one is taken next.
    free: Buffer<i32>,
    /// Number of sequences that have each page.
    counts: Buffer<u32>,
}

impl PagePool {
    /// Creates a pool of `count` free pages. The page with the lowest number is taken first.
    ///
    /// # Errors
    /// MemoryError.
    pub(super) fn new(count: i32) -> Result<PagePool> {
        let mut counts = Buffer::new();
        counts.try_resize(usize::try_from(count).unwrap_or(0), 0)?;
        let mut pool = PagePool { free: Buffer::try_with_capacity(counts.len())?, counts };
        pool.clear();
        Ok(pool)
    }

    /// Makes all pages free.
    pub(super) fn clear(&mut self) {
        self.free.clear();
        self.counts.as_mut_slice().fill(0);
        for page in (0..self.counts.len()).rev() {
            // The capacity is that of all pages.
            let _ = self.free.try_push(page as i32);
        }
    }

    /// Returns the number of free pages.
    pub(super) fn available(&self) -> usize {
        self.free.len()
    }

    /// Returns whether all pages are free.
    pub(super) fn is_unused(&self) -> bool {
        self.free.len() == self.counts.len()
    }

    /// Takes a free page, which then counts one sequence. Returns `None` if none is free.
    pub(super) fn take(&mut self) -> Option<i32> {
        let page = self.free.pop()?;
        self.counts[page as usize] = 1;
        Some(page)
    }

    /// Counts one more sequence for a page in use.
    pub(super) fn share(&mut self, page: i32) {
        self.counts[page as usize] += 1;
    }

    /// Returns whether more than one sequence has a page.
    pub(super) fn is_shared(&self, page: i32) -> bool {
        self.counts[page as usize] > 1
    }

    /// Counts one sequence less for a page, which becomes free if it was the only one.
    pub(super) fn release(&mut self, page: i32) {
        let count = &mut self.counts[page as usize];
        *count -= 1;
        if *count == 0 {
            // The capacity is that of all pages.
            let _ = self.free.try_push(page);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_taken_from_the_lowest_number_and_the_last_freed_one_first() -> Result<()> {
        let mut pool = PagePool::new(3)?;
        assert_eq!(
            [pool.take(), pool.take(), pool.take(), pool.take()],
            [Some(0), Some(1), Some(2), None]
        );
        pool.release(0);
        pool.release(2);
        assert_eq!((pool.available(), pool.take(), pool.take()), (2, Some(2), Some(0)));
        Ok(())
    }

    #[test]
    fn a_shared_page_is_free_after_its_last_release() -> Result<()> {
        let mut pool = PagePool::new(1)?;
        pool.take();
        pool.share(0);
        assert!(pool.is_shared(0));
        pool.release(0);
        assert!(!pool.is_shared(0) && !pool.is_unused());
        pool.release(0);
        assert!(pool.is_unused());
        Ok(())
    }
}
