//! Blocks that a container owns beside its object, interchangeable with the blocks that C++ code replaces them by.

use core::alloc::Layout;
use core::ffi::c_void;
use core::ptr::NonNull;

use ferrite_core::error::{self, Result};
use ferrite_core::memory;

/// Alignment of every block: the largest that a cell or a chain link needs.
const BLOCK_ALIGN: usize = 8;

/// Allocates an uninitialised block of `bytes` bytes, aligned for cells.
///
/// Allocation: one, released with [`release_block`]. On hosts the block comes from `malloc`.
///
/// # Errors
/// MemoryError when out of memory, or if the size exceeds the address space.
pub(super) fn allocate_block(bytes: usize) -> Result<NonNull<c_void>> {
    allocate_by(memory::allocate, bytes)
}

/// Allocates a block of which every page is written at once: on Linux a large one is in huge pages.
///
/// # Errors
/// Errors of [`allocate_block`].
pub(super) fn allocate_table(bytes: usize) -> Result<NonNull<c_void>> {
    allocate_by(memory::allocate_large, bytes)
}

#[inline]
fn allocate_by(
    allocate: impl FnOnce(Layout) -> Option<NonNull<u8>>,
    bytes: usize,
) -> Result<NonNull<c_void>> {
    #[cfg(test)]
    if super::faults::refuse() {
        return Err(error::out_of_memory(bytes));
    }
    Layout::from_size_align(bytes, BLOCK_ALIGN)
        .ok()
        .and_then(allocate)
        .map(NonNull::cast)
        .ok_or_else(|| error::out_of_memory(bytes))
}

/// Releases a block of a container; null is accepted and ignored.
///
/// This is the `data_deleter` that our containers carry. C++ code keeps that deleter when it replaces the block by one
/// of its own, so on hosts it must take any block of the C++ allocator: it ends in `free`, which needs no size.
///
/// # Safety
/// `block` is null, or a block from [`allocate_block`], [`allocate_table`] or (on hosts) from `malloc` or C++'s
/// `operator new` that is not used any more.
pub(super) unsafe extern "C" fn release_block(block: *mut c_void) {
    let Some(block) = NonNull::new(block) else { return };
    // The size is unknown here: clients do not pass it, and the memory hook does not need it.
    let layout = Layout::new::<u64>();
    // SAFETY: the caller hands over a block of the memory hook, or one from malloc where the hook is malloc.
    unsafe { memory::release(block.cast(), layout) }
}

/// Returns the size of `count` elements of `size` bytes.
///
/// # Errors
/// MemoryError when the product exceeds the address space.
pub(super) fn block_bytes(count: usize, size: usize) -> Result<usize> {
    count
        .checked_mul(size)
        .filter(|bytes| isize::try_from(*bytes).is_ok())
        .ok_or_else(|| error::out_of_memory(usize::MAX))
}
