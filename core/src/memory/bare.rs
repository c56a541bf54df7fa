//! Memory on bare metal: blocks from the platform's hooks, by default from the pool.

use core::alloc::Layout;
use core::ptr::NonNull;

use crate::error::Error;
use crate::{plain_error, platform};

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

/// The error that says that `asked` bytes were refused where `free` were left.
#[cold]
#[inline(never)]
pub(crate) fn refusal_of(asked: usize, free: usize) -> Error {
    plain_error!(MEMORY_ERROR, "Out of memory: {} bytes asked, {} free", asked, free)
}

/// The error that says that `asked` bytes were refused here.
pub(crate) fn refusal(asked: usize) -> Error {
    refusal_of(asked, platform::largest_free())
}
