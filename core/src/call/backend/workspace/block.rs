//! Blocks of workspaces on hosts: a header, and the workspace after it.

use core::alloc::Layout;
use core::ptr::NonNull;

use crate::platform::memory;

/// Alignment of workspaces in bytes; compiled code assumes it for its vector loads.
pub(super) const ALIGNMENT: usize = 64;

/// The header that precedes a workspace. Its size equals the alignment, so that the workspace stays
/// aligned.
#[repr(C, align(64))]
pub(super) struct BlockHeader {
    /// Size of the workspace in bytes, a multiple of [`ALIGNMENT`].
    pub(super) capacity: usize,
    /// The [mark](super::source) of this header while the workspace is in use, otherwise 0.
    pub(super) mark: usize,
    /// The next block in a thread's cache.
    pub(super) next: *mut BlockHeader,
}

const _: () = assert!(size_of::<BlockHeader>() == ALIGNMENT);

/// Returns a block to the heap.
///
/// # Safety
/// `block` must come from `new_block` and no longer be used.
#[cold]
pub(super) unsafe fn free(block: NonNull<BlockHeader>) {
    // SAFETY: the caller's promise; the layout is that of `new_block`.
    unsafe {
        let bytes = (*block.as_ptr()).capacity + size_of::<BlockHeader>();
        memory::release(block.cast(), Layout::from_size_align_unchecked(bytes, ALIGNMENT));
    }
}
