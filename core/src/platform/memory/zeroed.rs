//! Blocks of zeros on hosts. Large ones come from `calloc`, which does not write memory that is
//! fresh from the system: pages that nobody uses are never committed.

use core::alloc::Layout;
use core::ffi::c_void;
use core::ptr::NonNull;

use super::heap;

/// Size from which `calloc` may serve a block by a mapping of its own: the initial threshold of
/// glibc. Below it, writing the zeros costs less than the larger block.
const LARGE_BYTES: usize = 128 << 10;

unsafe extern "C" {
    fn calloc(count: usize, size: usize) -> *mut c_void;
    fn free(block: *mut c_void);
}

/// Allocates a block of zeros. Returns `None` when out of memory.
#[inline]
pub fn allocate_zeroed(layout: Layout) -> Option<NonNull<u8>> {
    if layout.size() >= LARGE_BYTES {
        return allocate_large(layout);
    }
    let block = heap::allocate(layout)?;
    // SAFETY: the block is new, and has as many bytes.
    unsafe { block.write_bytes(0, layout.size()) };
    Some(block)
}

/// Frees a block.
///
/// # Safety
/// `block` must come from [`allocate_zeroed`] with a layout of this size and alignment, and no
/// longer be used.
#[inline]
pub unsafe fn release_zeroed(block: NonNull<u8>, layout: Layout) {
    if layout.size() >= LARGE_BYTES {
        // SAFETY: the caller's promise.
        return unsafe { release_large(block) };
    }
    // SAFETY: the caller's promise.
    unsafe { heap::release(block, layout) }
}

/// Allocates a block within one of `calloc`, which aligns less. The word before the block has the
/// address to free.
#[cold]
fn allocate_large(layout: Layout) -> Option<NonNull<u8>> {
    let alignment = layout.align().max(heap::MALLOC_ALIGN);
    // SAFETY: `calloc` accepts every size.
    let start = unsafe { calloc(1, layout.size().checked_add(alignment)?) };
    let start = NonNull::new(start.cast::<u8>())?;
    let skipped = alignment - (start.addr().get() & (alignment - 1));
    // SAFETY: at most `alignment` bytes are skipped; and at least a word, since both the start and
    // the block are aligned for one.
    unsafe {
        let block = start.add(skipped);
        block.cast::<NonNull<u8>>().sub(1).write(start);
        Some(block)
    }
}

/// Frees a block.
///
/// # Safety
/// `block` must come from [`allocate_large`], and no longer be used.
#[cold]
unsafe fn release_large(block: NonNull<u8>) {
    // SAFETY: the caller's promise: the word before the block has the start.
    unsafe { free(block.cast::<NonNull<u8>>().sub(1).read().as_ptr().cast()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_zero(block: NonNull<u8>, bytes: usize) -> bool {
        // SAFETY: the block has as many initialised bytes.
        unsafe { core::slice::from_raw_parts(block.as_ptr(), bytes) }.iter().all(|byte| *byte == 0)
    }

    #[test]
    fn blocks_of_every_size_and_alignment_are_zero() {
        // All sizes and alignments take Miri more than five minutes.
        let sizes: &[usize] = if cfg!(miri) {
            &[1, LARGE_BYTES]
        } else {
            &[1, 100, LARGE_BYTES - 1, LARGE_BYTES, LARGE_BYTES + 1]
        };
        let alignments: &[usize] = if cfg!(miri) { &[64] } else { &[1, 8, 16, 64, 4096] };
        for &bytes in sizes {
            for &alignment in alignments {
                // `malloc` may align a block that is smaller than its alignment less.
                let bytes = usize::next_multiple_of(bytes, alignment);
                let layout = Layout::from_size_align(bytes, alignment).unwrap();
                for _ in 0..if cfg!(miri) { 1 } else { 3 } {
                    let block = allocate_zeroed(layout).unwrap();
                    assert_eq!(block.addr().get() % alignment, 0);
                    assert!(is_zero(block, bytes), "{bytes} bytes, aligned to {alignment}");
                    // SAFETY: the block has as many bytes, and is used no longer.
                    unsafe {
                        block.write_bytes(7, bytes);
                        release_zeroed(block, layout);
                    }
                }
            }
        }
    }

    #[test]
    #[cfg(all(target_os = "linux", not(miri)))]
    fn pages_of_a_large_block_are_not_committed() {
        let bytes = 256 << 20;
        let layout = Layout::from_size_align(bytes, 64).unwrap();
        let block = allocate_zeroed(layout).unwrap();
        let committed = committed_pages(block, bytes);
        // SAFETY: the block is used no longer.
        unsafe { release_zeroed(block, layout) };
        // The first page has the block's header, and may be a huge one of 2 MiB.
        assert!(committed <= 512, "{committed} pages");
    }

    /// Returns the number of pages of a block that are in memory.
    #[cfg(all(target_os = "linux", not(miri)))]
    fn committed_pages(block: NonNull<u8>, bytes: usize) -> usize {
        unsafe extern "C" {
            fn mincore(start: *mut u8, bytes: usize, pages: *mut u8) -> i32;
        }
        const SMALLEST_PAGE: usize = 4 << 10;
        const LARGEST_PAGE: usize = 64 << 10;
        let mut pages = std::vec![0; bytes / SMALLEST_PAGE];
        let start = block.as_ptr().map_addr(|address| address.next_multiple_of(LARGEST_PAGE));
        // SAFETY: the whole pages of the block are mapped, and there is a byte for each.
        let status = unsafe { mincore(start, bytes - LARGEST_PAGE, pages.as_mut_ptr()) };
        assert_eq!(status, 0);
        pages.iter().filter(|page| **page & 1 != 0).count()
    }

    #[test]
    #[cfg(target_pointer_width = "64")] // half of the addresses of 32 bits may be free
    #[cfg_attr(miri, ignore = "its heap stops the program instead of refusing")]
    fn a_size_that_no_heap_has_is_refused() {
        let layout = Layout::from_size_align(isize::MAX as usize - 127, 64).unwrap();
        assert!(allocate_zeroed(layout).is_none());
    }
}
