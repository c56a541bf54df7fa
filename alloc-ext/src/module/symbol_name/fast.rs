//! Joined names for speed-optimised builds: stored inline up to a typical length, since hosts look
//! up many names.
#![forbid(unsafe_code)]

use core::mem;

use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;

/// Maximum length of an inline name, including the NUL. TVM's mangled kernel names rarely exceed
/// 100 bytes.
const INLINE_BYTES: usize = 128;

/// A joined name with a terminating NUL.
pub(super) struct Joined {
    inline: [u8; INLINE_BYTES],
    /// Storage for longer names; empty for an inline name.
    spilled: Buffer<u8>,
    len: usize,
}

impl Joined {
    /// Joins `parts` and appends a NUL.
    ///
    /// # Errors
    /// MemoryError, only for names that do not fit inline.
    pub(super) fn of(parts: &[&[u8]]) -> Result<Joined> {
        let len = parts.iter().fold(0usize, |sum, part| sum.saturating_add(part.len()));
        let mut name = Joined { inline: [0; INLINE_BYTES], spilled: Buffer::new(), len };
        let mut room: &mut [u8] = &mut name.inline;
        if len >= INLINE_BYTES {
            name.spilled.try_resize(len.saturating_add(1), 0)?;
            room = &mut name.spilled;
        }
        for part in parts {
            if let Some((place, rest)) = mem::take(&mut room).split_at_mut_checked(part.len()) {
                place.copy_from_slice(part);
                room = rest;
            }
        }
        Ok(name)
    }

    /// Returns the name, including the NUL.
    pub(super) fn with_nul(&self) -> &[u8] {
        let bytes: &[u8] = if self.spilled.is_empty() { &self.inline } else { &self.spilled };
        bytes.get(..=self.len).unwrap_or(b"\0")
    }
}
