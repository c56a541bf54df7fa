//! Serialisation of a loaded executable.

use ferrite_core::Bytes;
use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;

use super::load::MAGIC;
use super::{Program, Source};

impl Program {
    /// Serialises the executable: returns the bytes from which it was loaded, in version 2 of the
    /// format and without trailing bytes.
    ///
    /// # Errors
    /// MemoryError.
    ///
    /// # Upstream
    /// `VMExecutable::SaveToBytes`, which writes the memory scopes in the order of a hash table.
    pub fn save(&self) -> Result<Bytes> {
        let all = self.source.as_bytes().get(..self.sections.end).unwrap_or_default();
        if !self.sections.is_version_1 {
            return match &self.source {
                Source::Bytes(bytes) if bytes.as_bytes().len() == all.len() => Ok(bytes.clone()),
                _ => Bytes::new(all),
            };
        }
        let (functions, rest) =
            all.split_at_checked(self.sections.functions_end).unwrap_or_default();
        let mut saved = Buffer::try_with_capacity(all.len() + 8)?;
        saved.try_extend_from_slice(&MAGIC.to_le_bytes())?;
        saved.try_extend_from_slice(functions.get(8..).unwrap_or_default())?;
        saved.try_extend_from_slice(&0u64.to_le_bytes())?;
        saved.try_extend_from_slice(rest)?;
        Bytes::new(&saved)
    }
}
