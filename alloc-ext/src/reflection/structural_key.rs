//! A value together with its structural hash, for use as a key.

use ferrite_core::any::Any;
use ferrite_core::error::Result;
use ferrite_core::{object_class, type_index};

use super::class::{Class, attr};
use super::field::field;
use super::record::{self, Record, Reflected};

object_class! {
    /// A key that is equal to another one when their values are structurally equal.
    ///
    /// # Upstream
    /// `StructuralKeyObj` in `extra/structural_key.h`.
    pub struct StructuralKey, CLASS.index(), "ffi.StructuralKey"
}

/// The fields of a [`StructuralKey`].
#[repr(C)]
#[derive(Clone)]
pub(super) struct KeyContent {
    key: Any,
    hash_i64: i64,
}

type KeyRecord = Record<KeyContent>;

pub(super) static CLASS: Class = Class {
    creator: Some(record::create::<StructuralKey>),
    fields: &[
        field!(KeyRecord, content.key: Any, "key", type_index::ANY),
        field!(KeyRecord, content.hash_i64: i64, "hash_i64", type_index::INT),
    ],
    attrs: &[
        attr!("ffi.StructuralKey", "__ffi_new__", record::new::<StructuralKey>),
        attr!("ffi.StructuralKey", "__ffi_shallow_copy__", record::shallow_copy::<StructuralKey>),
    ],
    ..Class::new("ffi.StructuralKey", size_of::<KeyRecord>())
};

// SAFETY: upstream's layout; values are sendable.
unsafe impl Reflected for StructuralKey {
    type Content = KeyContent;

    fn class() -> &'static Class {
        &CLASS
    }

    fn empty() -> Result<KeyContent> {
        Ok(KeyContent { key: Any::NONE, hash_i64: 0 })
    }
}
