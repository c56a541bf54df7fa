//! Structural keys: map keys that compare and hash a value by structure.
#![forbid(unsafe_code)]

use ferrite_core::error::Result;
use ferrite_core::object::ObjectClass;
use ferrite_core::object_class;
use ferrite_core::value::any::{Any, AnyView};

use crate::global_function::{ClassIndex, library_function};

static CLASS: ClassIndex = ClassIndex::new("ffi.StructuralKey");

object_class! {
    /// Map key that compares and hashes its value structurally. The hash is computed once, at
    /// creation.
    ///
    /// # Upstream
    /// `StructuralKeyObj` in `extra/structural_key.h`.
    pub struct StructuralKey, CLASS.get(), "ffi.StructuralKey"
}

impl StructuralKey {
    /// Creates a key for a value.
    ///
    /// # Errors
    /// Errors of [`structural_hash`](super::equal::structural_hash).
    pub fn new(key: Any) -> Result<StructuralKey> {
        library_function!("ffi.StructuralKey").call((key,))
    }

    /// Returns the value that the key was created for.
    pub fn key(&self) -> Any {
        self.as_object().field("key").unwrap_or(Any::NONE)
    }

    /// Returns the structural hash of the value.
    pub fn hash_i64(&self) -> i64 {
        self.as_object().field("hash_i64").and_then(|hash| hash.get()).unwrap_or(0)
    }

    /// Returns `true` if two values are identical, or are keys whose values are structurally equal.
    ///
    /// # Errors
    /// InternalError if the values are not identical and not both keys; errors of
    /// [`structural_equal`](super::equal::structural_equal).
    ///
    /// # Upstream
    /// `ffi.StructuralKeyEqual`.
    pub fn keys_equal(lhs: AnyView<'_>, rhs: AnyView<'_>) -> Result<bool> {
        library_function!("ffi.StructuralKeyEqual").call((lhs, rhs))
    }
}
