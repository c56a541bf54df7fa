//! The error of an allocation.
#![forbid(unsafe_code)]

use core::num::NonZeroUsize;

/// Out of memory: a request for this many bytes was refused; `usize::MAX` stands for a size that overflows the address space.
///
/// Makes no error object, so that it may be returned while a lock is held: memory of an [`Error`](crate::Error), which it
/// converts into, may come from a user's allocator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AllocError(NonZeroUsize);

impl AllocError {
    /// The refusal of `bytes` bytes, not none.
    #[inline]
    pub const fn new(bytes: usize) -> AllocError {
        match NonZeroUsize::new(bytes) {
            Some(bytes) => AllocError(bytes),
            None => AllocError(NonZeroUsize::MIN),
        }
    }

    /// The number of bytes.
    #[inline]
    pub const fn bytes(self) -> usize {
        self.0.get()
    }
}
