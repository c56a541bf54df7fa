//! Classes of objects in programs that have no other runtime: their type indices are fixed, and no table knows them.

use ferrite_core::error::Result;

/// The classes of this crate.
const KEYS: [&str; 4] = ["vm.Storage", "relax.vm.Closure", "ferrite.relax.Executable", "ferrite.Model"];

/// The first of their indices: above those of TVM, and below those that registered types get.
const FIRST: i32 = 120;

/// A class of objects, a child of `ffi.Object`.
pub(crate) struct Class(i32);

impl Class {
    /// The class of that key, one of [`KEYS`].
    pub(crate) const fn new(key: &'static str) -> Class {
        let mut at = 0;
        while !is_same(KEYS[at].as_bytes(), key.as_bytes()) {
            at += 1;
        }
        Class(FIRST + at as i32)
    }

    /// The type index.
    #[inline]
    pub(crate) const fn index(&self) -> i32 {
        self.0
    }

    /// The type index.
    ///
    /// # Errors
    /// None; those of the twin.
    #[inline]
    pub(crate) const fn register(&self) -> Result<i32> {
        Ok(self.0)
    }
}

const fn is_same(one: &[u8], other: &[u8]) -> bool {
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}
