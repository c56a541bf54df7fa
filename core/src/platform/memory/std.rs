//! Memory on hosts: the C heap. C++ clients reallocate and free side buffers, so blocks must come
//! from plain `malloc`.

#[cfg_attr(windows, path = "aligned/windows.rs")]
#[cfg_attr(not(windows), path = "aligned/posix.rs")]
mod aligned;

use core::alloc::Layout;
use core::ffi::c_void;
use core::ptr::NonNull;

/// Alignment of blocks of `malloc`: that of C's `max_align_t`.
pub(super) const MALLOC_ALIGN: usize = 2 * size_of::<usize>();

unsafe extern "C" {
    fn malloc(size: usize) -> *mut c_void;
    fn realloc(block: *mut c_void, size: usize) -> *mut c_void;
    fn free(block: *mut c_void);
}

/// Allocates a block with `malloc`, or with the system's function for aligned blocks if `malloc`
/// does not align enough. Returns `None` when out of memory.
#[inline]
pub fn allocate(layout: Layout) -> Option<NonNull<u8>> {
    if layout.align() > MALLOC_ALIGN {
        return aligned::allocate(layout);
    }
    // C may return null for a size of zero, which would look like a failure.
    // SAFETY: `malloc` accepts every size.
    NonNull::new(unsafe { malloc(layout.size().max(1)) }.cast())
}

/// Frees a block with `free`, which knows the size of the block, or with the system's function for
/// aligned blocks.
///
/// # Safety
/// `block` must come from this heap with the same alignment, and no longer be used.
#[inline]
pub unsafe fn release(block: NonNull<u8>, layout: Layout) {
    if aligned::HAS_RELEASE && layout.align() > MALLOC_ALIGN {
        // SAFETY: the caller's promise.
        return unsafe { aligned::release(block) };
    }
    // SAFETY: the caller's promise; `free` takes aligned blocks, too, unless the system has another
    // function for them.
    unsafe { free(block.as_ptr().cast()) }
}

/// Resizes a block, in place if possible; else by `move_block`. Returns `None` when out of memory;
/// the old block is then unchanged.
///
/// # Safety
/// `block` must come from this heap with the same alignment, and no longer be used if another block
/// is returned.
#[inline]
pub unsafe fn resize(
    block: NonNull<u8>,
    old: Layout,
    new: Layout,
    move_block: impl FnOnce() -> Option<NonNull<u8>>,
) -> Option<NonNull<u8>> {
    if old.align() > MALLOC_ALIGN {
        // `realloc` would not preserve this alignment.
        return move_block();
    }
    // SAFETY: the caller's promise; blocks of `malloc` have the alignment of `malloc` whatever
    // their size.
    NonNull::new(unsafe { realloc(block.as_ptr().cast(), new.size().max(1)) }.cast())
}

#[cfg(all(test, target_pointer_width = "64"))] // half of the addresses of 32 bits may be free
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "its heap stops the program instead of refusing")]
    fn a_size_that_no_heap_has_is_refused() {
        for align in [8, 64] {
            let layout = Layout::from_size_align(isize::MAX as usize - 127, align).unwrap();
            assert!(allocate(layout).is_none());
        }
    }
}
