//! Set with linear search.
#![forbid(unsafe_code)]

use ferrite_core::error::Result;
use ferrite_core::memory::Buffer;

/// A set of addresses.
pub(in crate::module) struct VisitedSet(Buffer<usize>);

impl VisitedSet {
    pub(in crate::module) const fn new() -> Self {
        VisitedSet(Buffer::new())
    }

    /// Inserts `address`. Returns `false` if it was in the set.
    ///
    /// # Errors
    /// MemoryError.
    #[expect(clippy::manual_contains, reason = "`contains` looks at 16 at once, which takes more code")]
    pub(in crate::module) fn insert(&mut self, address: usize) -> Result<bool> {
        if self.0.iter().any(|known| *known == address) {
            return Ok(false);
        }
        self.0.try_push(address)?;
        Ok(true)
    }
}
