//! Blocks with a larger alignment than that of `malloc`, by `posix_memalign`. `free` accepts them.

use core::alloc::Layout;
use core::ffi::{c_int, c_void};
use core::ptr::{self, NonNull};

/// Whether aligned blocks need [`release`] in place of `free`.
pub(super) const HAS_RELEASE: bool = false;

unsafe extern "C" {
    fn posix_memalign(block: *mut *mut c_void, align: usize, size: usize) -> c_int;
    fn free(block: *mut c_void);
}

/// Allocates a block. Returns `None` when out of memory.
#[cold]
pub(super) fn allocate(layout: Layout) -> Option<NonNull<u8>> {
    let mut block = ptr::null_mut();
    // SAFETY: the alignment is a power of two (`Layout`) and above the size of a pointer (the
    // caller's test); `block` is a place for the result.
    let status = unsafe { posix_memalign(&mut block, layout.align(), layout.size().max(1)) };
    if status == 0 { NonNull::new(block.cast()) } else { None }
}

/// Frees a block.
///
/// # Safety
/// `block` must come from [`allocate`] and no longer be used.
pub(super) unsafe fn release(block: NonNull<u8>) {
    // SAFETY: the caller's promise.
    unsafe { free(block.as_ptr().cast()) }
}
