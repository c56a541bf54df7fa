//! Memory of the type table on bare metal, where types are few: every piece is a block of its own, never given back.

use core::ptr::NonNull;

use crate::error::{Error, out_of_memory};
use crate::platform;
use crate::sync::atomic::{AtomicUsize, Ordering};

/// Every piece lies at this alignment.
const ALIGN: usize = 8;

/// Bytes of the piece that was refused last. Beside what says that one was, so that results fit a register.
static REFUSED_BYTES: AtomicUsize = AtomicUsize::new(0);

/// Memory was refused. The error object is made after the lock is let go: its memory may come from a user's allocator.
#[derive(Debug)]
pub(in crate::type_table) struct NoMemory;

impl NoMemory {
    /// The refusal of `bytes` bytes.
    #[inline]
    pub(in crate::type_table) fn of(bytes: usize) -> NoMemory {
        REFUSED_BYTES.store(bytes, Ordering::Relaxed);
        NoMemory
    }

    /// The error. When an interrupt was refused memory meanwhile, it has the bytes of that.
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

    /// Room for `bytes` bytes.
    pub(in crate::type_table) fn carve(&self, bytes: usize, align: usize) -> Result<NonNull<u8>, NoMemory> {
        self.carve_zeroed(bytes, align)
    }

    /// Room for `bytes` bytes that are zero, at a multiple of 8.
    #[inline(never)]
    pub(in crate::type_table) fn carve_zeroed(
        &self,
        bytes: usize,
        _align: usize,
    ) -> Result<NonNull<u8>, NoMemory> {
        match NonNull::new(platform::allocate(bytes, ALIGN).cast::<u8>()) {
            Some(piece) => {
                // SAFETY: the piece has room for so many bytes, and is nobody else's yet.
                unsafe { piece.write_bytes(0, bytes) };
                Ok(piece)
            }
            None => Err(NoMemory::of(bytes)),
        }
    }
}
