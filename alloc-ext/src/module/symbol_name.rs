//! NUL-terminated symbol names, joined from prefixes and a name.

use core::ffi::{CStr, c_void};
use core::mem;
use core::ptr::NonNull;

use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;

/// Maximum length of an inline name, including the NUL. TVM's mangled kernel names rarely exceed
/// 100 bytes.
const INLINE_BYTES: usize = 128;

/// NUL-terminated symbol name, for lookups by C functions. Stored inline up to a typical length,
/// since hosts look up many names.
pub(crate) struct SymbolName {
    inline: [u8; INLINE_BYTES],
    /// Storage for longer names; empty for an inline name.
    spilled: Buffer<u8>,
    len: usize,
}

impl SymbolName {
    /// Creates an empty name, which [`join`](Self::join) fills in place: a name is too large to be
    /// returned.
    #[cfg_attr(feature = "speed", inline)]
    #[cfg_attr(not(feature = "speed"), inline(never))]
    pub(crate) const fn new() -> SymbolName {
        SymbolName { inline: [0; INLINE_BYTES], spilled: Buffer::new(), len: 0 }
    }

    /// Joins `parts` in a new name and appends a NUL.
    ///
    /// # Errors
    /// MemoryError, only for names that do not fit inline.
    pub(crate) fn join(&mut self, parts: &[&[u8]]) -> Result<&SymbolName> {
        self.len = parts.iter().fold(0usize, |sum, part| sum.saturating_add(part.len()));
        let mut room: &mut [u8] = &mut self.inline;
        if self.len >= INLINE_BYTES {
            self.spilled.try_resize(self.len.saturating_add(1), 0)?;
            room = &mut self.spilled;
        }
        for part in parts {
            if let Some((place, rest)) = mem::take(&mut room).split_at_mut_checked(part.len()) {
                place.copy_from_slice(part);
                room = rest;
            }
        }
        Ok(self)
    }

    /// Returns the joined name, without the NUL.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.with_nul().split_last().map_or(&[], |(_, name)| name)
    }

    /// Returns the joined name as a C string; `None` if a part contains a NUL, so that no symbol
    /// can have the name.
    pub(crate) fn as_c_str(&self) -> Option<&CStr> {
        let name = self.with_nul();
        // SAFETY: the name ends in a NUL.
        let for_c = unsafe { CStr::from_ptr(name.as_ptr().cast()) };
        (for_c.count_bytes() + 1 == name.len()).then_some(for_c)
    }

    /// Returns the name, including the NUL.
    fn with_nul(&self) -> &[u8] {
        let bytes: &[u8] = if self.spilled.is_empty() { &self.inline } else { &self.spilled };
        bytes.get(..=self.len).unwrap_or(b"\0")
    }
}

/// Joins `parts` and looks up the name with `find`; `None` if a part contains a NUL.
///
/// # Errors
/// MemoryError; errors of `find`.
pub(crate) fn find_symbol(
    parts: &[&[u8]],
    find: &dyn Fn(&CStr) -> Result<Option<NonNull<c_void>>>,
) -> Result<Option<NonNull<c_void>>> {
    match SymbolName::new().join(parts)?.as_c_str() {
        Some(name) => find(name),
        None => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(parts: &[&[u8]], expected: &[u8]) -> bool {
        let mut name = SymbolName::new();
        name.join(parts).unwrap().as_c_str().unwrap().to_bytes() == expected
    }

    #[test]
    fn joins_short_and_long_names() {
        assert!(joined(&[b"__tvm_ffi_", b"", b"add"], b"__tvm_ffi_add"));
        assert!(joined(&[], b""));
        assert_eq!(SymbolName::new().join(&[b"a", b"b"]).unwrap().as_bytes(), b"ab");
        for len in [126, 127, 128, 129, 1000] {
            let long = [b'x'; 1000];
            assert!(joined(&[&long[..len]], &long[..len]));
        }
    }

    #[test]
    fn a_nul_inside_matches_nothing() {
        assert!(find_symbol(&[b"a\0b"], &|_| Ok(Some(NonNull::dangling()))).unwrap().is_none());
    }
}
