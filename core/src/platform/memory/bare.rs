//! Memory on bare metal: blocks from the platform's hooks, which use the pool by default.

use core::alloc::Layout;
use core::ptr::NonNull;

use crate::platform::hooks;

/// Allocates a block. Returns `None` when out of memory.
#[inline]
pub fn allocate(layout: Layout) -> Option<NonNull<u8>> {
    NonNull::new(hooks::allocate(layout.size(), layout.align()).cast())
}

/// Frees a block.
///
/// # Safety
/// `block` must come from `allocate` and no longer be used.
#[inline]
pub unsafe fn release(block: NonNull<u8>, _layout: Layout) {
    // SAFETY: the caller's promise.
    unsafe { hooks::release(block.as_ptr().cast()) }
}

/// Allocates a block of zeros. Returns `None` when out of memory.
#[inline]
pub fn allocate_zeroed(layout: Layout) -> Option<NonNull<u8>> {
    let block = allocate(layout)?;
    // SAFETY: the block is new, and has as many bytes.
    unsafe { block.write_bytes(0, layout.size()) };
    Some(block)
}

/// Frees a block of zeros.
///
/// # Safety
/// Same requirements as [`release`].
#[inline]
pub unsafe fn release_zeroed(block: NonNull<u8>, layout: Layout) {
    // SAFETY: the caller's promise.
    unsafe { release(block, layout) }
}

/// Resizes a block by `move_block`. Returns `None` when out of memory; the old block is then
/// unchanged.
///
/// # Safety
/// None in this build. The function is unsafe on hosts.
#[inline]
pub unsafe fn resize(
    _: NonNull<u8>,
    _: Layout,
    _: Layout,
    move_block: impl FnOnce() -> Option<NonNull<u8>>,
) -> Option<NonNull<u8>> {
    move_block()
}
