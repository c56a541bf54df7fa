//! The blocks that a thread keeps for its next workspaces: a stack, since compiled functions give back what they asked for last.
//!
//! Blocks belong to no thread: whoever gives a workspace back keeps its block. A thread that ends gives all to the heap.

use core::ptr::{self, NonNull};

use super::source::{BlockHeader, free};

/// The most blocks that a thread keeps. Then the one that it has had longest goes to the heap.
pub(super) const MAX_CACHED: usize = 16;

/// A larger block is no good for a workspace when it has so many times its bytes.
const MAX_WASTE: usize = 4;

/// A stack of blocks, linked by their headers.
pub(super) struct BlockCache {
    first: *mut BlockHeader,
    len: usize,
}

impl BlockCache {
    /// No blocks.
    pub(super) const fn new() -> BlockCache {
        BlockCache { first: ptr::null_mut(), len: 0 }
    }

    /// How many blocks there are.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Takes the block that fits best.
    #[inline]
    pub(super) fn take(&mut self, capacity: usize) -> Option<NonNull<BlockHeader>> {
        let first = NonNull::new(self.first)?;
        // SAFETY: the blocks of the list are the thread's alone.
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
        // SAFETY: links lead to blocks of the list, which are the thread's alone, and the last one is null.
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

    /// Takes out the block that the link leads to.
    ///
    /// # Safety
    /// The link is one of this list.
    unsafe fn unlink(&mut self, link: *mut *mut BlockHeader) -> Option<NonNull<BlockHeader>> {
        // SAFETY: the caller's promise.
        unsafe {
            let block = NonNull::new(*link)?;
            *link = (*block.as_ptr()).next;
            self.len -= 1;
            Some(block)
        }
    }

    /// Keeps a block that nobody uses. Returns one for which there is no room.
    #[inline]
    pub(super) fn put(&mut self, block: NonNull<BlockHeader>) -> Option<NonNull<BlockHeader>> {
        // SAFETY: nobody else uses the block.
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
            // SAFETY: the blocks of the list are the thread's alone.
            unsafe {
                next = (*block.as_ptr()).next;
                free(block);
            }
        }
    }
}
