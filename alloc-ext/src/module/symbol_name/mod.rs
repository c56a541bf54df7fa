//! NUL-terminated symbol names, joined from prefixes and a name.

use core::ffi::{CStr, c_void};
use core::ptr::NonNull;

use ferrite_core::error::Result;

#[cfg_attr(feature = "speed", path = "fast.rs")]
#[cfg_attr(not(feature = "speed"), path = "small.rs")]
mod imp;

use imp::Joined;

/// NUL-terminated symbol name, for lookups by C functions.
pub(crate) struct SymbolName(Joined);

impl SymbolName {
    /// Joins `parts` and appends a NUL.
    ///
    /// # Errors
    /// MemoryError.
    pub(crate) fn join(parts: &[&[u8]]) -> Result<SymbolName> {
        Joined::of(parts).map(SymbolName)
    }

    /// Returns the joined name, without the NUL.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.0.with_nul().split_last().map_or(&[], |(_, name)| name)
    }

    /// Returns the joined name as a C string; `None` if a part contains a NUL, so that no symbol
    /// can have the name.
    pub(crate) fn as_c_str(&self) -> Option<&CStr> {
        let name = self.0.with_nul();
        // SAFETY: the name ends in a NUL.
        let for_c = unsafe { CStr::from_ptr(name.as_ptr().cast()) };
        (for_c.count_bytes() + 1 == name.len()).then_some(for_c)
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
        assert_eq!(SymbolName::join(&[b"a", b"b"]).unwrap().as_bytes(), b"ab");
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
