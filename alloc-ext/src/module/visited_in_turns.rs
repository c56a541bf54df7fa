//! The set of modules that a walk over imports has seen, found by comparing one after the other: firmware has few.
#![forbid(unsafe_code)]

use ferrite_core::error::Result;
use ferrite_core::memory::Buffer;

/// A list of addresses.
pub(super) struct Visited(Buffer<usize>);

impl Visited {
    pub(super) const fn new() -> Self {
        Visited(Buffer::new())
    }

    /// Adds `address`; false when it was there.
    ///
    /// # Errors
    /// `MemoryError` when the list cannot grow.
    #[expect(clippy::manual_contains, reason = "`contains` looks at 16 at once, which takes more code")]
    pub(super) fn insert(&mut self, address: usize) -> Result<bool> {
        if self.0.iter().any(|known| *known == address) {
            return Ok(false);
        }
        self.0.try_push(address)?;
        Ok(true)
    }
}
