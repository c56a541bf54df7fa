//! Blocks with a larger alignment than that of `malloc`, by `_aligned_malloc`. `free` does not
//! accept them.

use core::alloc::Layout;
use core::ffi::c_void;
use core::ptr::NonNull;

/// Whether aligned blocks need [`release`] in place of `free`.
pub(super) const HAS_RELEASE: bool = true;

unsafe extern "C" {
    fn _aligned_malloc(size: usize, align: usize) -> *mut c_void;
    fn _aligned_free(block: *mut c_void);
}

/// Allocates a block. Returns `None` when out of memory.
#[cold]
pub(super) fn allocate(layout: Layout) -> Option<NonNull<u8>> {
    // SAFETY: the alignment is a power of two (`Layout`).
    NonNull::new(unsafe { _aligned_malloc(layout.size().max(1), layout.align()) }.cast())
}

/// Frees a block.
///
/// # Safety
/// `block` must come from [`allocate`] and no longer be used.
pub(super) unsafe fn release(block: NonNull<u8>) {
    // SAFETY: the caller's promise.
    unsafe { _aligned_free(block.as_ptr().cast()) }
}
