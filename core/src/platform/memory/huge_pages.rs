//! Allocation of large blocks in huge pages on Linux, requested with `madvise`.
//!
//! A huge page takes one page fault and one TLB entry instead of 512. A large table read in random
//! order has more small pages than the TLB has entries.

use core::alloc::Layout;
use core::ffi::{c_int, c_void};
use core::ptr::NonNull;

use super::heap;

/// Size of a huge page if normal pages have 4 KiB. On systems with larger pages the advice may have
/// no effect.
const PAGE_BYTES: usize = 2 << 20;

/// The advice `MADV_HUGEPAGE` of `madvise`.
const HUGE_PAGES: c_int = 14;

unsafe extern "C" {
    fn madvise(address: *mut c_void, bytes: usize, advice: c_int) -> c_int;
}

/// Allocates a block. A block of at least the size of a huge page is aligned to huge pages if
/// possible, and huge pages are requested for it. The first write to a huge page commits all of it,
/// so this is for blocks that are written completely. Returns `None` when out of memory.
#[inline]
pub fn allocate(layout: Layout) -> Option<NonNull<u8>> {
    if layout.size() < PAGE_BYTES { heap::allocate(layout) } else { allocate_in_huge_pages(layout) }
}

#[cold]
fn allocate_in_huge_pages(layout: Layout) -> Option<NonNull<u8>> {
    // The alignment takes extra address space, which a limit may refuse.
    let Some(block) = layout.align_to(PAGE_BYTES).ok().and_then(heap::allocate) else {
        return heap::allocate(layout);
    };
    let whole = layout.size() / PAGE_BYTES * PAGE_BYTES;
    // SAFETY: the range lies in the block, and the advice does not change its content. A refusal
    // leaves the pages as they are.
    unsafe { madvise(block.as_ptr().cast(), whole, HUGE_PAGES) };
    Some(block)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_blocks_start_with_a_huge_page() {
        for (bytes, alignment) in [
            (4096, 8),
            (PAGE_BYTES - 1, 8),
            (PAGE_BYTES, PAGE_BYTES),
            (2 * PAGE_BYTES + 5, PAGE_BYTES),
        ] {
            let layout = Layout::from_size_align(bytes, 8).unwrap();
            let block = allocate(layout).unwrap();
            assert_eq!(block.addr().get() % alignment, 0);
            // SAFETY: the block is new and has as many bytes.
            unsafe {
                block.write_bytes(1, bytes);
                assert_eq!(block.add(bytes - 1).read(), 1);
                heap::release(block, layout);
            }
        }
    }

    #[test]
    #[cfg(target_pointer_width = "64")] // half of the addresses of 32 bits may be free
    fn half_of_all_addresses_are_refused() {
        assert!(allocate(Layout::from_size_align(isize::MAX as usize - 7, 8).unwrap()).is_none());
    }
}
