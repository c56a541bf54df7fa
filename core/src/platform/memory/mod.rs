//! Memory allocation: the C heap on hosts; firmware hooks or a block pool elsewhere. Every
//! allocation may fail.

mod alloc_error;
mod buffer;

#[cfg(not(any(feature = "std", all(feature = "client", unix))))]
#[path = "bare.rs"]
mod heap;
#[cfg(not(any(feature = "std", all(feature = "client", unix))))]
pub(crate) mod pool;
#[cfg(all(feature = "growing-memory", target_family = "wasm", not(feature = "std")))]
pub use pool::set_limit;
#[cfg(not(any(feature = "std", all(feature = "client", unix))))]
pub use pool::{PoolStats, add_region, stats};

#[cfg(any(feature = "std", all(feature = "client", unix)))]
#[path = "std.rs"]
mod heap;

#[cfg(not(any(feature = "std", all(feature = "client", unix))))]
use heap as zeroed;
#[cfg(any(feature = "std", all(feature = "client", unix)))]
mod zeroed;

#[cfg(all(feature = "std", target_os = "linux", not(miri)))]
mod huge_pages;
#[cfg(not(all(feature = "std", target_os = "linux", not(miri))))]
use heap as huge_pages;

// The pool of bare-metal builds is compiled for its tests, so that one test run covers both heaps.
#[cfg(all(test, any(feature = "std", all(feature = "client", unix))))]
#[expect(dead_code, unused_imports, reason = "only its tests use it in this build")]
pub(crate) mod pool;

pub use alloc_error::AllocError;
pub use buffer::{Buffer, SpareSlot};

use core::alloc::Layout;
use core::ptr::NonNull;

/// Allocates an uninitialised block of `layout.size()` bytes, aligned to `layout.align()`.
///
/// Ownership: the caller owns the block until it passes it to [`release`]. A size of zero returns a
/// distinct block.
///
/// Returns `None` when out of memory; no error is raised.
///
/// Threads: any. Without `std` a lock is held meanwhile, for a time that grows with the number of
/// free blocks.
#[inline]
pub fn allocate(layout: Layout) -> Option<NonNull<u8>> {
    heap::allocate(layout)
}

/// Allocates a block as [`allocate`] does, on Linux in huge pages if available. For large blocks
/// that are written completely at once and then read in random order.
#[inline]
pub fn allocate_large(layout: Layout) -> Option<NonNull<u8>> {
    huge_pages::allocate(layout)
}

/// Allocates a block of zeros. On hosts, pages of a large block that are fresh from the system are
/// not written, and are committed when they are used.
///
/// Ownership: the caller owns the block until it passes it to [`release_zeroed`]. Returns `None`
/// when out of memory; no error is raised.
#[inline]
pub fn allocate_zeroed(layout: Layout) -> Option<NonNull<u8>> {
    zeroed::allocate_zeroed(layout)
}

/// Frees a block of [`allocate_zeroed`].
///
/// # Safety
/// `block` must come from [`allocate_zeroed`] with a layout of this size and alignment, and no
/// longer be used.
#[inline]
pub unsafe fn release_zeroed(block: NonNull<u8>, layout: Layout) {
    // SAFETY: all heaps require exactly the caller's promise.
    unsafe { zeroed::release_zeroed(block, layout) }
}

/// Allocates a block that replaces a block of `old_bytes` bytes and takes over its content. If
/// `old_bytes` is 0, there is no old block. Returns `None` when out of memory; the old block is
/// then unchanged.
///
/// # Safety
/// Same requirements as [`resize`].
#[inline]
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
    // SAFETY: the caller guarantees the block, whose layout exists.
    unsafe { resize(block, Layout::from_size_align_unchecked(old_bytes, alignment), new) }
}

/// Frees a block of [`allocate`]. Of `layout`, only the alignment counts: every heap knows the
/// sizes of its blocks.
///
/// On hosts this is C's `free`, which also accepts blocks that a C++ client allocated with
/// `malloc`.
///
/// # Safety
/// `block` must come from [`allocate`] (on hosts also: from C's `malloc`), and no longer be used.
#[inline]
pub unsafe fn release(block: NonNull<u8>, layout: Layout) {
    // SAFETY: both heaps require exactly the caller's promise.
    unsafe { heap::release(block, layout) }
}

/// Grows or shrinks a block of [`allocate`], in place if the heap can. Its content is kept up to
/// the smaller size.
///
/// Ownership: the returned block replaces the old one. Returns `None` when out of memory; the old
/// block is then unchanged.
///
/// # Safety
/// `block` must come from [`allocate`] with the layout `old`, whose alignment is that of `new`. It
/// must no longer be used if another block is returned.
#[inline]
pub(crate) unsafe fn resize(block: NonNull<u8>, old: Layout, new: Layout) -> Option<NonNull<u8>> {
    // SAFETY: both heaps require exactly the caller's promise, and so does `move_block`.
    unsafe { heap::resize(block, old, new, || move_block(block, old, new)) }
}

/// Resizes a block by copying it to a new one.
///
/// # Safety
/// Same requirements as [`resize`].
#[cold]
unsafe fn move_block(block: NonNull<u8>, old: Layout, new: Layout) -> Option<NonNull<u8>> {
    let target = allocate(new)?;
    // SAFETY: both blocks have at least as many bytes and do not overlap; the caller guarantees the
    // old one.
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
            // SAFETY: each block replaces the previous one, and has the stated size.
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
