//! Separate memory blocks owned by a container. C++ code may replace them by its own blocks, and
//! release them.

use core::alloc::Layout;
use core::ffi::c_void;
use core::ptr::NonNull;

use ferrite_core::error::{self, Result};
use ferrite_core::platform::memory;

/// Alignment of every block, which suits cells and chain links.
const BLOCK_ALIGN: usize = 8;

/// Allocates an uninitialised block of `bytes` bytes, aligned for cells.
///
/// Allocation: one block, released by [`release_block`]. On hosts it comes from `malloc`.
///
/// # Errors
/// MemoryError when out of memory, or if the size exceeds the address space.
pub(super) fn allocate_block(bytes: usize) -> Result<NonNull<c_void>> {
    allocate_by(memory::allocate, bytes)
}

/// Allocates a block whose pages will all be written at once. On Linux, a large block uses huge
/// pages.
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

/// Releases a block of a container. Null is accepted and ignored.
///
/// This is the `data_deleter` of the containers created here. C++ code keeps that deleter when it
/// replaces the block by its own, so on hosts it must accept any block of the C++ allocator: it
/// calls `free`, which needs no size.
///
/// # Safety
/// `block` must be null, or a block from [`allocate_block`], [`allocate_table`] or (on hosts)
/// `malloc` or C++'s `operator new`, and must not be used afterwards.
pub(super) unsafe extern "C" fn release_block(block: *mut c_void) {
    let Some(block) = NonNull::new(block) else { return };
    // The size is unknown here: clients do not pass it, and the memory hook does not need it.
    let layout = Layout::new::<u64>();
    // SAFETY: the caller hands over a block of the memory hook, or one from malloc where the hook
    // is malloc.
    unsafe { memory::release(block.cast(), layout) }
}

/// Returns the size in bytes of `count` elements of `size` bytes each.
///
/// # Errors
/// MemoryError if the product exceeds the address space.
pub(super) fn block_bytes(count: usize, size: usize) -> Result<usize> {
    count
        .checked_mul(size)
        .filter(|bytes| isize::try_from(*bytes).is_ok())
        .ok_or_else(|| error::out_of_memory(usize::MAX))
}
