//! Joined names for size-optimised builds: always in a buffer, for less code and stack.
#![forbid(unsafe_code)]

use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;

/// A joined name with a terminating NUL.
pub(super) struct Joined(Buffer<u8>);

impl Joined {
    /// Joins `parts` and appends a NUL.
    ///
    /// # Errors
    /// MemoryError.
    pub(super) fn of(parts: &[&[u8]]) -> Result<Joined> {
        let mut name = Buffer::new();
        for part in parts {
            name.try_extend_from_slice(part)?;
        }
        name.try_push(0)?;
        Ok(Joined(name))
    }

    /// Returns the name, including the NUL.
    pub(super) fn with_nul(&self) -> &[u8] {
        &self.0
    }
}
