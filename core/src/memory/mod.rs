//! Where all memory comes from: the C heap on hosts, the hooks of a board or a block pool without one; every request may fail.

mod buffer;

#[cfg(not(any(feature = "std", all(feature = "client", unix))))]
mod board;
#[cfg(not(any(feature = "std", all(feature = "client", unix))))]
use board as heap;
#[cfg(not(any(feature = "std", all(feature = "client", unix))))]
pub(crate) mod pool;
#[cfg(not(any(feature = "std", feature = "client")))]
pub(crate) use board::refusal_of;
#[cfg(not(any(feature = "std", all(feature = "client", unix))))]
pub use pool::{Stats, add_region, stats};

#[cfg(any(feature = "std", all(feature = "client", unix)))]
mod malloc;
#[cfg(any(feature = "std", all(feature = "client", unix)))]
use malloc as heap;

// The twin that this build does not use is compiled for its tests, so that one test run covers both.
#[cfg(all(test, any(feature = "std", all(feature = "client", unix))))]
#[expect(dead_code, reason = "only its tests use it in this build")]
pub(crate) mod pool;

pub use buffer::Buffer;
pub(crate) use heap::refusal;

use core::alloc::Layout;
use core::ptr::NonNull;

use crate::error::{Result, out_of_memory};

/// Asks for a block of `layout.size()` bytes at a multiple of `layout.align()`; its content is undefined.
///
/// Ownership: the caller owns the block until it hands it to [`release`]. A size of zero gives a block of its own.
///
/// Errors: `None` when no such block is left; nothing is raised.
///
/// Threads: any. Without `std` a lock is held meanwhile, for a time that grows with the number of free blocks.
#[inline]
pub fn allocate(layout: Layout) -> Option<NonNull<u8>> {
    heap::allocate(layout)
}

/// As [`allocate`], but a refusal is a `MemoryError`. Once for all callers where size counts.
#[cfg_attr(feature = "std", inline)]
#[cfg_attr(not(feature = "std"), inline(never))]
pub(crate) fn request(bytes: usize, alignment: usize) -> Result<NonNull<u8>> {
    if let Ok(layout) = Layout::from_size_align(bytes, alignment)
        && let Some(block) = allocate(layout)
    {
        return Ok(block);
    }
    Err(out_of_memory(bytes))
}

/// Gives back a block of [`allocate`]. Every heap knows how large its blocks are, so `layout` may be any.
///
/// On hosts this is C's `free`, so that blocks which a C++ client took from `malloc` may be given as well.
///
/// # Safety
/// `block` came from [`allocate`] (on hosts also: from C's `malloc`), and nobody uses it any more.
#[inline]
pub unsafe fn release(block: NonNull<u8>, layout: Layout) {
    // SAFETY: the caller's promise is the one that both twins ask for.
    unsafe { heap::release(block, layout) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_aligned_and_apart() {
        for align in [1, 8, 16, 64, 256] {
            let layout = Layout::from_size_align(40, align).unwrap();
            let (first, second) = (allocate(layout).unwrap(), allocate(layout).unwrap());
            assert_eq!(first.addr().get() % align, 0);
            assert_eq!(second.addr().get() % align, 0);
            assert!(first.addr().get().abs_diff(second.addr().get()) >= 40);
            // SAFETY: both blocks are 40 bytes long and were allocated above with this layout.
            unsafe {
                first.write_bytes(1, 40);
                second.write_bytes(2, 40);
                assert_eq!(first.add(39).read(), 1);
                release(first, layout);
                release(second, layout);
            }
        }
    }

    #[test]
    fn an_empty_block_has_an_address_of_its_own() {
        let layout = Layout::from_size_align(0, 1).unwrap();
        let (first, second) = (allocate(layout).unwrap(), allocate(layout).unwrap());
        assert_ne!(first, second);
        // SAFETY: both were allocated above with this layout.
        unsafe {
            release(first, layout);
            release(second, layout);
        }
    }
}
