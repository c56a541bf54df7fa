//! The per-thread cache of workspace blocks: a stack, because compiled functions release their
//! workspaces in reverse order.
//!
//! The thread that releases a workspace caches its block, whichever thread allocated it. When a
//! thread ends, its cached blocks are freed.

use core::ptr::{self, NonNull};

use super::block::{BlockHeader, free};

/// Maximum number of cached blocks. If the cache is full, the oldest block is freed.
pub(super) const MAX_CACHED: usize = 16;

/// Maximum ratio of a cached block's capacity to the requested capacity. Larger blocks are not
/// used.
const MAX_WASTE: usize = 4;

/// A stack of blocks, linked through their headers.
pub(super) struct BlockCache {
    first: *mut BlockHeader,
    len: usize,
}

impl BlockCache {
    /// Creates an empty cache.
    pub(super) const fn new() -> BlockCache {
        BlockCache { first: ptr::null_mut(), len: 0 }
    }

    /// Returns the number of cached blocks.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Takes the smallest cached block of at least `capacity` bytes, unless it is more than
    /// [`MAX_WASTE`] times as large.
    #[inline]
    pub(super) fn take(&mut self, capacity: usize) -> Option<NonNull<BlockHeader>> {
        let first = NonNull::new(self.first)?;
        // SAFETY: the thread owns the blocks of the list exclusively.
        unsafe {
            if (*first.as_ptr()).capacity != capacity {
                return self.take_best(capacity);
            }
            self.first = (*first.as_ptr()).next;
        }
        self.len -= 1;
        Some(first)
    }

    #[cold]
    fn take_best(&mut self, capacity: usize) -> Option<NonNull<BlockHeader>> {
        let most = capacity.saturating_mul(MAX_WASTE);
        let mut best: Option<(*mut *mut BlockHeader, usize)> = None;
        let mut link = &raw mut self.first;
        // SAFETY: links point to blocks of the list, which the thread owns exclusively, and the
        // last one is null.
        unsafe {
            while let Some(block) = NonNull::new(*link) {
                let size = (*block.as_ptr()).capacity;
                if (capacity..=most).contains(&size) && best.is_none_or(|(_, least)| size < least) {
                    best = Some((link, size));
                }
                link = &raw mut (*block.as_ptr()).next;
            }
            best.and_then(|(link, _)| self.unlink(link))
        }
    }

    /// Removes the block at `link` from the list.
    ///
    /// # Safety
    /// `link` must belong to this list.
    unsafe fn unlink(&mut self, link: *mut *mut BlockHeader) -> Option<NonNull<BlockHeader>> {
        // SAFETY: the caller's promise.
        unsafe {
            let block = NonNull::new(*link)?;
            *link = (*block.as_ptr()).next;
            self.len -= 1;
            Some(block)
        }
    }

    /// Adds an unused block to the cache. If the cache is full, removes and returns the oldest
    /// block.
    #[inline]
    pub(super) fn put(&mut self, block: NonNull<BlockHeader>) -> Option<NonNull<BlockHeader>> {
        // SAFETY: the block is unused.
        unsafe { (*block.as_ptr()).next = self.first };
        self.first = block.as_ptr();
        self.len += 1;
        if self.len > MAX_CACHED { self.take_last() } else { None }
    }

    #[cold]
    fn take_last(&mut self) -> Option<NonNull<BlockHeader>> {
        let mut link = &raw mut self.first;
        // SAFETY: as for `take_best`.
        unsafe {
            for _ in 1..self.len {
                link = &raw mut (**link).next;
            }
            self.unlink(link)
        }
    }
}

impl Drop for BlockCache {
    fn drop(&mut self) {
        let mut next = self.first;
        while let Some(block) = NonNull::new(next) {
            // SAFETY: the thread owns the blocks of the list exclusively.
            unsafe {
                next = (*block.as_ptr()).next;
                free(block);
            }
        }
    }
}
