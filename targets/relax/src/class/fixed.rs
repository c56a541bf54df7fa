//! Object classes with fixed type indices, for programs without another runtime. They are not in
//! the type table.

use ferrite_core::error::Result;

/// Type keys of this crate's classes.
const KEYS: [&str; 7] = [
    "vm.Storage",
    "relax.vm.Closure",
    "ferrite.relax.Executable",
    "ferrite.Model",
    "ferrite.relax.KVState",
    "ferrite.relax.AttentionKVCache",
    "ferrite.relax.PagedAttentionKVCache",
];

/// First type index of this crate's classes: above the indices that TVM assigns statically, and
/// below those of registered types.
const FIRST: i32 = 120;

/// An object class, derived from `ffi.Object`.
pub(crate) struct Class(i32);

impl Class {
    /// Creates the class with this type key, one of [`KEYS`].
    pub(crate) const fn new(key: &'static str) -> Class {
        let mut at = 0;
        while !is_same(KEYS[at].as_bytes(), key.as_bytes()) {
            at += 1;
        }
        Class(FIRST + at as i32)
    }

    /// Creates the class with this type key, one of [`KEYS`]. Nothing here asks for the parent.
    #[cfg(feature = "kv-cache")]
    pub(crate) const fn derived(key: &'static str, _parent: &'static Class) -> Class {
        Class::new(key)
    }

    /// Returns the type index.
    #[inline]
    pub(crate) const fn index(&self) -> i32 {
        self.0
    }

    /// Returns the type index. Nothing needs to be registered.
    ///
    /// # Errors
    /// Never fails; the variant for other builds may.
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
