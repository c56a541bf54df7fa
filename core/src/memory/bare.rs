//! Memory on bare metal: blocks from the platform's hooks, by default from the pool.

use core::alloc::Layout;
use core::ptr::NonNull;

use crate::platform;

/// Takes a block.
#[inline]
pub fn allocate(layout: Layout) -> Option<NonNull<u8>> {
    NonNull::new(platform::allocate(layout.size(), layout.align()).cast())
}

/// Gives a block back.
///
/// # Safety
/// `block` came from `allocate` and nobody uses it any more.
#[inline]
pub unsafe fn release(block: NonNull<u8>, _layout: Layout) {
    // SAFETY: the caller's promise.
    unsafe { platform::release(block.as_ptr().cast()) }
}

/// Gives a block another size; None leaves it as it was.
///
/// # Safety
/// As `move_block`.
pub unsafe fn resize(block: NonNull<u8>, old: Layout, new: Layout) -> Option<NonNull<u8>> {
    // SAFETY: the caller's promise.
    unsafe { super::move_block(block, old, new) }
}
