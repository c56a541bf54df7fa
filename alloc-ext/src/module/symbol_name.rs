//! Composes NUL-terminated symbol names from prefixes and a name, without heap memory for names of usual
//! length.
#![forbid(unsafe_code)]

use core::ffi::{CStr, c_void};
use core::mem;
use core::ptr::NonNull;

use ferrite_core::error::Result;
use ferrite_core::memory::Buffer;

/// Names up to this length, with the NUL, stay on the stack. Mangled kernel names of TVM rarely pass 100
/// bytes.
const INLINE_BYTES: usize = 128;

/// A symbol name ready for a C lookup.
pub(crate) struct SymbolName {
    inline: [u8; INLINE_BYTES],
    /// Used instead when the name is long.
    spilled: Buffer<u8>,
    len: usize,
}

impl SymbolName {
    /// Joins `parts` and appends a NUL.
    ///
    /// # Errors
    /// `MemoryError` when a long name finds no memory.
    pub(crate) fn join(parts: &[&[u8]]) -> Result<SymbolName> {
        let len = parts.iter().fold(0usize, |sum, part| sum.saturating_add(part.len()));
        let mut name = SymbolName { inline: [0; INLINE_BYTES], spilled: Buffer::new(), len };
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

    /// The joined name. One with a NUL inside ends there for C, so such a name gives none: no symbol has it.
    pub(crate) fn as_c_str(&self) -> Option<&CStr> {
        let bytes: &[u8] = if self.spilled.is_empty() { &self.inline } else { &self.spilled };
        CStr::from_bytes_with_nul(bytes.get(..=self.len)?).ok()
    }
}

/// What `find` finds under the joined name, or none when a part holds a NUL.
///
/// # Errors
/// `MemoryError` when a long name finds no memory, and those of `find`.
pub(crate) fn find_symbol(
    parts: &[&[u8]],
    find: &dyn Fn(&CStr) -> Result<Option<NonNull<c_void>>>,
) -> Result<Option<NonNull<c_void>>> {
    match SymbolName::join(parts)?.as_c_str() {
        Some(name) => find(name),
        None => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(parts: &[&[u8]], expected: &[u8]) -> bool {
        let name = SymbolName::join(parts).unwrap();
        name.as_c_str().unwrap().to_bytes() == expected
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
        assert!(find_symbol(&[b"a\0b"], &|_| Ok(Some(NonNull::dangling()))).unwrap().is_none());
    }
}
