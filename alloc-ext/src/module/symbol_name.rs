//! Composes NUL-terminated symbol names from prefixes and a name, without heap memory for names of usual
//! length.
#![forbid(unsafe_code)]

use core::ffi::CStr;

use ferrite_core::error::Result;
use ferrite_core::memory::Buffer;

/// Names up to this length, with the NUL, stay on the stack. Mangled kernel names of TVM rarely pass 100
/// bytes.
const INLINE_BYTES: usize = 128;

/// A symbol name ready for a C lookup.
pub(crate) struct SymbolName {
    inline: [u8; INLINE_BYTES],
    len: usize,
    spilled: Option<Buffer<u8>>,
}

impl SymbolName {
    /// Joins `parts` and appends a NUL.
    ///
    /// # Errors
    /// `MemoryError` when a long name finds no memory.
    pub(crate) fn join(parts: &[&[u8]]) -> Result<SymbolName> {
        let total = parts.iter().fold(0usize, |sum, part| sum.saturating_add(part.len()));
        let mut name = SymbolName { inline: [0; INLINE_BYTES], len: total, spilled: None };
        if total < INLINE_BYTES {
            let bytes = parts.iter().flat_map(|part| part.iter());
            for (slot, byte) in name.inline.iter_mut().zip(bytes) {
                *slot = *byte;
            }
            return Ok(name);
        }
        let mut buffer = Buffer::new();
        buffer.try_reserve(total.saturating_add(1))?;
        for part in parts {
            buffer.try_extend_from_slice(part)?;
        }
        buffer.try_push(0)?;
        name.spilled = Some(buffer);
        Ok(name)
    }

    /// The joined name. One with a NUL inside ends there for C, so such a name gives none: no symbol has it.
    pub(crate) fn as_c_str(&self) -> Option<&CStr> {
        let bytes: &[u8] = match &self.spilled {
            Some(buffer) => buffer,
            None => self.inline.get(..=self.len)?,
        };
        CStr::from_bytes_with_nul(bytes).ok()
    }
}

/// Calls `found` with the joined name, or gives none when a part holds a NUL.
///
/// # Errors
/// `MemoryError` when a long name finds no memory, and those of `found`.
pub(crate) fn with_name<R>(
    parts: &[&[u8]],
    found: impl FnOnce(&CStr) -> Result<Option<R>>,
) -> Result<Option<R>> {
    match SymbolName::join(parts)?.as_c_str() {
        Some(name) => found(name),
        None => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(parts: &[&[u8]], expected: &[u8]) -> bool {
        with_name(parts, |name| Ok(Some(name.to_bytes() == expected))).unwrap().unwrap()
    }

    #[test]
    fn joins_short_and_long_names() {
        assert!(joined(&[b"__tvm_ffi_", b"", b"add"], b"__tvm_ffi_add"));
        assert!(joined(&[], b""));
        for len in [INLINE_BYTES - 2, INLINE_BYTES - 1, INLINE_BYTES, 1000] {
            let long = [b'x'; 1000];
            assert!(joined(&[&long[..len]], &long[..len]));
        }
    }

    #[test]
    fn a_nul_inside_matches_nothing() {
        assert!(with_name(&[b"a\0b"], |_| Ok(Some(()))).unwrap().is_none());
    }
}
