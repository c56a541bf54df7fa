//! The error of a failed allocation.
#![forbid(unsafe_code)]

use core::num::NonZeroUsize;

/// Out of memory: an allocation of this many bytes failed; `usize::MAX` stands for a size that overflows the address
/// space.
///
/// A plain number, so that it can be returned while a lock is held. Converting it into an [`Error`](crate::Error)
/// allocates, possibly through a user's allocator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AllocError(NonZeroUsize);

impl AllocError {
    /// Makes the error for `bytes` bytes; 0 counts as 1.
    #[inline]
    pub const fn new(bytes: usize) -> AllocError {
        match NonZeroUsize::new(bytes) {
            Some(bytes) => AllocError(bytes),
            None => AllocError(NonZeroUsize::MIN),
        }
    }

    /// Number of bytes requested.
    #[inline]
    pub const fn bytes(self) -> usize {
        self.0.get()
    }
}
