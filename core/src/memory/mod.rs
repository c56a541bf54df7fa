//! Memory: the C heap on hosts, the hooks of firmware or a block pool without one. Every request may fail.

mod alloc_error;
mod buffer;

#[cfg(not(any(feature = "std", all(feature = "client", unix))))]
#[path = "bare.rs"]
mod heap;
#[cfg(not(any(feature = "std", all(feature = "client", unix))))]
pub(crate) mod pool;
#[cfg(not(any(feature = "std", all(feature = "client", unix))))]
pub use pool::{PoolStats, add_region, stats};

#[cfg(any(feature = "std", all(feature = "client", unix)))]
#[path = "std.rs"]
mod heap;

#[cfg(all(feature = "std", target_os = "linux", not(miri)))]
mod huge_pages;
#[cfg(not(all(feature = "std", target_os = "linux", not(miri))))]
use heap as huge_pages;

// The twin that this build does not use is compiled for its tests, so that one test run covers both.
#[cfg(all(test, any(feature = "std", all(feature = "client", unix))))]
#[expect(dead_code, reason = "only its tests use it in this build")]
pub(crate) mod pool;

pub use alloc_error::AllocError;
pub use buffer::{Buffer, SpareSlot};

use core::alloc::Layout;
use core::ptr::NonNull;

/// Asks for a block of `layout.size()` bytes at a multiple of `layout.align()`; its content is undefined.
///
/// Ownership: the caller owns the block until it hands it to [`release`]. A size of zero gives a block of its own.
///
/// Gives `None` when no such block is left; nothing is raised.
///
/// Threads: any. Without `std` a lock is held meanwhile, for a time that grows with the number of free blocks.
#[inline]
pub fn allocate(layout: Layout) -> Option<NonNull<u8>> {
    heap::allocate(layout)
}

/// As [`allocate`], for a block that may be large, is written all over at once, and is read in random order: on Linux it is in
/// huge pages then, if the system has them.
#[inline]
pub fn allocate_large(layout: Layout) -> Option<NonNull<u8>> {
    huge_pages::allocate(layout)
}

/// As [`allocate`], in place of a block of `old_bytes`, whose content moves to the new one, or of none if that is 0. A refusal
/// leaves the old block as it was. Once for all callers where size counts.
///
/// # Safety
/// As [`resize`].
#[cfg_attr(feature = "speed", inline)]
#[cfg_attr(not(feature = "speed"), inline(never))]
unsafe fn allocate_instead(
    block: NonNull<u8>,
    old_bytes: usize,
    bytes: usize,
    alignment: usize,
) -> Option<NonNull<u8>> {
    let new = Layout::from_size_align(bytes, alignment).ok()?;
    if old_bytes == 0 {
        return allocate(new);
    }
    // SAFETY: the caller vouches for the block, whose layout exists.
    unsafe { resize(block, Layout::from_size_align_unchecked(old_bytes, alignment), new) }
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

/// Makes a block of [`allocate`] larger or smaller, in its place where the heap can. What is in it stays, as far as it fits.
///
/// Ownership: the block that is returned takes the place of the old one. Gives `None` when there is no such block; the old
/// one is as it was then.
///
/// # Safety
/// `block` came from [`allocate`] with the layout `old`, whose alignment `new` has, too; nobody uses it any more when another
/// one is returned.
#[inline]
pub(crate) unsafe fn resize(block: NonNull<u8>, old: Layout, new: Layout) -> Option<NonNull<u8>> {
    // SAFETY: the caller's promise is the one that both twins ask for.
    unsafe { heap::resize(block, old, new) }
}

/// As [`resize`], always to another block.
///
/// # Safety
/// As [`resize`].
#[cold]
unsafe fn move_block(block: NonNull<u8>, old: Layout, new: Layout) -> Option<NonNull<u8>> {
    let target = allocate(new)?;
    // SAFETY: both blocks have as many bytes, and the new one is another; the caller vouches for the old one.
    unsafe {
        target.copy_from_nonoverlapping(block, old.size().min(new.size()));
        release(block, old);
    }
    Some(target)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_of_another_size_has_the_same_content() {
        for align in [1, 16, 64] {
            let layout = |size| Layout::from_size_align(size, align).unwrap();
            let block = allocate(layout(40)).unwrap();
            // SAFETY: each block takes the place of the one before, and is as large as it is said to be.
            unsafe {
                block.write_bytes(7, 40);
                let larger = resize(block, layout(40), layout(4000)).unwrap();
                assert_eq!(larger.addr().get() % align, 0);
                assert_eq!(larger.cast::<[u8; 40]>().read(), [7; 40]);
                larger.add(40).write_bytes(8, 3960);
                let smaller = resize(larger, layout(4000), layout(80)).unwrap();
                assert_eq!((smaller.add(39).read(), smaller.add(79).read()), (7, 8));
                release(smaller, layout(80));
            }
        }
    }

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
