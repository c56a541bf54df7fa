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
        for bytes in [1, 100, LARGE_BYTES - 1, LARGE_BYTES, LARGE_BYTES + 1] {
            for alignment in [1, 8, 16, 64, 4096] {
                // `malloc` may align a block that is smaller than its alignment less.
                let bytes = usize::next_multiple_of(bytes, alignment);
                let layout = Layout::from_size_align(bytes, alignment).unwrap();
                for _ in 0..3 {
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
        let before = resident_bytes();
        let block = allocate_zeroed(layout).unwrap();
        let after = resident_bytes();
        // SAFETY: the block is used no longer.
        unsafe { release_zeroed(block, layout) };
        // Other tests run at the same time, and use less than half of it.
        assert!(after < before + bytes / 2, "{before} bytes in memory, then {after}");
    }

    /// Returns the bytes of this process that are in memory.
    #[cfg(all(target_os = "linux", not(miri)))]
    fn resident_bytes() -> usize {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().strip_suffix(" kB").unwrap().parse::<usize>().unwrap() << 10
    }

    #[test]
    #[cfg(target_pointer_width = "64")] // half of the addresses of 32 bits may be free
    #[cfg_attr(miri, ignore = "its heap stops the program instead of refusing")]
    fn a_size_that_no_heap_has_is_refused() {
        let layout = Layout::from_size_align(isize::MAX as usize - 127, 64).unwrap();
        assert!(allocate_zeroed(layout).is_none());
    }
}
