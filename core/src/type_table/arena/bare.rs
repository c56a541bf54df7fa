//! Memory of the type table on bare metal, where types are few: every piece is its own block, never freed.

use core::ptr::NonNull;

use crate::error::{Error, out_of_memory};
use crate::platform;
use crate::sync::atomic::{AtomicUsize, Ordering};

/// The alignment of every piece.
const ALIGN: usize = 8;

/// Size of the last failed allocation. Kept outside [`NoMemory`], so that results fit a register.
static REFUSED_BYTES: AtomicUsize = AtomicUsize::new(0);

/// Out of memory. The error object is made after the lock is released, since it may come from a user's allocator.
#[derive(Debug)]
pub(in crate::type_table) struct NoMemory;

impl NoMemory {
    /// Makes the failure for `bytes` bytes.
    #[inline]
    pub(in crate::type_table) fn of(bytes: usize) -> NoMemory {
        REFUSED_BYTES.store(bytes, Ordering::Relaxed);
        NoMemory
    }

    /// Makes the error. If an allocation failed in an interrupt meanwhile, it states the size of that one.
    pub(in crate::type_table) fn into_error(self) -> Error {
        out_of_memory(REFUSED_BYTES.load(Ordering::Relaxed))
    }
}

/// An allocator that never frees.
pub(in crate::type_table) struct Arena;

impl Arena {
    pub(in crate::type_table) const fn new() -> Self {
        Arena
    }

    /// Allocates `bytes` bytes.
    pub(in crate::type_table) fn carve(&self, bytes: usize, align: usize) -> Result<NonNull<u8>, NoMemory> {
        self.carve_zeroed(bytes, align)
    }

    /// Allocates `bytes` zero bytes at a multiple of 8.
    #[inline(never)]
    pub(in crate::type_table) fn carve_zeroed(
        &self,
        bytes: usize,
        _align: usize,
    ) -> Result<NonNull<u8>, NoMemory> {
        match NonNull::new(platform::allocate(bytes, ALIGN).cast::<u8>()) {
            Some(piece) => {
                // SAFETY: the piece has that many bytes, and is not shared yet.
                unsafe { piece.write_bytes(0, bytes) };
                Ok(piece)
            }
            None => Err(NoMemory::of(bytes)),
        }
    }
}
