//! Memory of the type table on boards, which have few types: every piece is a block of its own, never given back.

use core::ptr::NonNull;

use crate::platform;

/// Every piece lies at this alignment.
const ALIGN: usize = 8;

/// Memory was refused, for this many bytes. The error object is made after the lock is let go: its memory may
/// come from a user's allocator.
#[derive(Debug)]
pub(super) struct NoMemory(pub usize);

/// An allocator that never frees.
pub(super) struct Arena;

impl Arena {
    pub(super) const fn new() -> Self {
        Arena
    }

    /// Room for `bytes` bytes, at a multiple of 8.
    #[inline(never)]
    pub(super) fn carve(&self, bytes: usize, _align: usize) -> Result<NonNull<u8>, NoMemory> {
        NonNull::new(platform::allocate(bytes, ALIGN).cast()).ok_or(NoMemory(bytes))
    }
}
