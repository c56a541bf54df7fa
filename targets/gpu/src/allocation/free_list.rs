//! Freed memory of a device with a single queue, kept for reuse without a call of the driver.
//!
//! Commands of such a device run in the order in which they are queued, from whatever thread. So
//! commands on reused memory run after the commands that used it before, and nothing has to wait.

use core::ffi::c_void;
use core::ptr::NonNull;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ferrite_core::platform::memory::Buffer;

use crate::variable;

/// Maximum number of blocks, which bounds the time of a search.
const MAX_BLOCKS: usize = 1024;
/// Without `FERRITE_DEVICE_POOL`, the list keeps at most this share of the device's memory.
const SHARE: u64 = 8;

/// Freed memory of a device, up to a limit of bytes.
pub(crate) struct FreeList {
    kept: Mutex<FreeBlocks>,
    /// Maximum number of bytes; 0 turns the list off.
    limit: u64,
}

#[derive(Clone, Copy)]
struct FreeBlock {
    data: NonNull<c_void>,
    bytes: u64,
}

struct FreeBlocks {
    /// The block that was freed first comes first.
    blocks: Buffer<FreeBlock>,
    bytes: u64,
}

// SAFETY: the pointers are records of memory that nobody else uses.
unsafe impl Send for FreeBlocks {}

impl FreeList {
    /// Creates an empty list for a device with this number of bytes.
    pub(crate) fn new(device_bytes: u64) -> FreeList {
        FreeList {
            kept: Mutex::new(FreeBlocks { blocks: Buffer::new(), bytes: 0 }),
            limit: variable::pool_limit().unwrap_or(device_bytes / SHARE),
        }
    }

    fn kept(&self) -> MutexGuard<'_, FreeBlocks> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the block that was freed last among those that have `bytes` bytes, or up to an eighth
    /// more. Returns `None` if there is none.
    pub(crate) fn take(&self, bytes: u64) -> Option<NonNull<c_void>> {
        self.kept().take(bytes)
    }

    /// Adds a block. Passes the blocks that the list cannot keep to `free`, oldest first.
    pub(crate) fn put(&self, data: NonNull<c_void>, bytes: u64, free: impl Fn(NonNull<c_void>)) {
        let mut kept = self.kept();
        if bytes > self.limit || kept.blocks.reserve_silently(1).is_err() {
            drop(kept);
            return free(data);
        }
        // The capacity was reserved before.
        let _ = kept.blocks.try_push(FreeBlock { data, bytes });
        kept.bytes += bytes;
        while kept.bytes > self.limit || kept.blocks.len() > MAX_BLOCKS {
            kept.remove(0).into_iter().for_each(&free);
        }
    }

    /// Passes all blocks to `free`. Returns `true` if there was one.
    pub(crate) fn clear(&self, free: impl Fn(NonNull<c_void>)) -> bool {
        let mut kept = self.kept();
        let had_blocks = !kept.blocks.is_empty();
        while let Some(data) = kept.remove(0) {
            free(data);
        }
        had_blocks
    }
}

impl FreeBlocks {
    fn take(&mut self, bytes: u64) -> Option<NonNull<c_void>> {
        let fits = |block: &FreeBlock| block.bytes >= bytes && block.bytes - bytes <= bytes / 8;
        self.remove(self.blocks.iter().rposition(fits)?)
    }

    fn remove(&mut self, index: usize) -> Option<NonNull<c_void>> {
        let block = self.blocks.remove(index)?;
        self.bytes -= block.bytes;
        Some(block.data)
    }
}

#[cfg(test)]
mod tests {
    use core::cell::Cell;

    use super::*;

    fn list(limit: u64) -> FreeList {
        FreeList { limit, ..FreeList::new(0) }
    }

    fn block(number: usize) -> NonNull<c_void> {
        NonNull::without_provenance(core::num::NonZeroUsize::new(number).unwrap())
    }

    fn refuse(data: NonNull<c_void>) {
        panic!("{data:?} is freed");
    }

    #[test]
    fn blocks_serve_sizes_down_to_an_eighth_less() {
        let list = list(1 << 20);
        list.put(block(1), 900, refuse);
        for other in [901, 799, 1, 0] {
            assert_eq!(list.take(other), None, "{other}");
        }
        assert_eq!(list.take(800), Some(block(1)));
        assert_eq!(list.take(800), None);
    }

    #[test]
    fn the_block_freed_last_is_reused_first() {
        let list = list(1 << 20);
        (1..=3).for_each(|number| list.put(block(number), 64, refuse));
        assert_eq!([list.take(64), list.take(64)], [Some(block(3)), Some(block(2))]);
    }

    #[test]
    fn beyond_the_limit_the_oldest_blocks_are_freed() {
        let (list, freed) = (list(256), Cell::new(0));
        let count = |_| freed.set(freed.get() + 1);
        (1..=2).for_each(|number| list.put(block(number), 128, refuse));
        list.put(block(3), 200, count);
        assert_eq!((freed.get(), list.take(128), list.take(200)), (2, None, Some(block(3))));
        list.put(block(4), 257, count);
        assert_eq!((freed.get(), list.take(257)), (3, None));
        (1..=MAX_BLOCKS + 2).for_each(|number| list.put(block(number), 0, count));
        assert_eq!(freed.get(), 5);
        assert!(list.clear(count) && !list.clear(refuse));
        assert_eq!(freed.get(), 5 + MAX_BLOCKS);
    }
}
