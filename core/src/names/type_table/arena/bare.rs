//! Memory of the type table on bare metal: each piece is a separate block that is never freed,
//! since there are few types.

use core::ptr::NonNull;

use crate::error::{Error, out_of_memory};
use crate::platform::hooks;
use crate::platform::sync::atomic::{AtomicUsize, Ordering};

/// Alignment of every piece allocated from the arena.
const ALIGN: usize = 8;

/// Size of the last failed allocation in bytes. It is not part of [`NoMemory`], so that results fit
/// in a register.
static REFUSED_BYTES: AtomicUsize = AtomicUsize::new(0);

/// The failure of an allocation. It is converted to an error after the lock is released, because a
/// custom allocator may allocate the error object.
#[derive(Debug)]
pub(in crate::names::type_table) struct NoMemory;

impl NoMemory {
    /// Creates the failure to allocate `bytes` bytes.
    #[inline]
    pub(in crate::names::type_table) fn of(bytes: usize) -> NoMemory {
        REFUSED_BYTES.store(bytes, Ordering::Relaxed);
        NoMemory
    }

    /// Converts the failure into a MemoryError that states the requested size. If another
    /// allocation failed in an interrupt meanwhile, it states that size.
    pub(in crate::names::type_table) fn into_error(self) -> Error {
        out_of_memory(REFUSED_BYTES.load(Ordering::Relaxed))
    }
}

/// An allocator for memory that is never freed.
pub(in crate::names::type_table) struct Arena;

impl Arena {
    pub(in crate::names::type_table) const fn new() -> Self {
        Arena
    }

    /// Allocates `bytes` bytes as a separate block.
    pub(in crate::names::type_table) fn carve(
        &self,
        bytes: usize,
        align: usize,
    ) -> Result<NonNull<u8>, NoMemory> {
        self.carve_zeroed(bytes, align)
    }

    /// Allocates `bytes` zero-initialised bytes at a multiple of 8.
    #[inline(never)]
    pub(in crate::names::type_table) fn carve_zeroed(
        &self,
        bytes: usize,
        _align: usize,
    ) -> Result<NonNull<u8>, NoMemory> {
        match NonNull::new(hooks::allocate(bytes, ALIGN).cast::<u8>()) {
            Some(piece) => {
                // SAFETY: the piece has that many bytes, and is not shared yet.
                unsafe { piece.write_bytes(0, bytes) };
                Ok(piece)
            }
            None => Err(NoMemory::of(bytes)),
        }
    }
}
