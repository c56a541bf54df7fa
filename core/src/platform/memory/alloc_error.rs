//! The error type of failed allocations.
#![forbid(unsafe_code)]

use core::num::NonZeroUsize;

/// Out of memory: an allocation of this many bytes failed. `usize::MAX` stands for a size that
/// overflows the address space.
///
/// A plain number, so that it can be returned while a lock is held. Converting it to an
/// [`Error`](crate::Error) allocates, possibly with a user's allocator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AllocError(NonZeroUsize);

impl AllocError {
    /// Creates the error for a failed allocation of `bytes` bytes; 0 counts as 1.
    #[inline]
    pub const fn new(bytes: usize) -> AllocError {
        match NonZeroUsize::new(bytes) {
            Some(bytes) => AllocError(bytes),
            None => AllocError(NonZeroUsize::MIN),
        }
    }

    /// Returns the number of requested bytes.
    #[inline]
    pub const fn bytes(self) -> usize {
        self.0.get()
    }
}
