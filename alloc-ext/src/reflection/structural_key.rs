//! A value together with its structural hash, for use as a key.

use core::ffi::c_void;

use ferrite_core::abi::TVMFFIAny;
use ferrite_core::any::{Any, AnyView};
use ferrite_core::convert::AnyCompatible;
use ferrite_core::error::{Error, Result};
use ferrite_core::object::{ObjectClass, ObjectRef};
use ferrite_core::{error, object_class, type_index, type_table};

use super::class::{Class, Method, attr, method};
use super::field::field;
use super::record::{self, Record, Reflected};
use crate::structural::equal::{Options, structural_equal, structural_hash};

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
    methods: &[Method {
        doc: "Constructor that takes any key and computes its structural hash",
        ..method!(static "ffi.StructuralKey", "__ffi_init__", init)
    }],
    attrs: &[
        attr!("ffi.StructuralKey", "__ffi_init__", init),
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

impl StructuralKey {
    /// A key for this value.
    ///
    /// # Errors
    /// Those of [`structural_hash`].
    pub fn new(key: Any) -> Result<StructuralKey> {
        let hash = structural_hash(&key, Options::default())?;
        record::make(KeyContent { key, hash_i64: hash as i64 })
    }

    /// The value.
    pub fn key(&self) -> Any {
        record::content_of(self).key
    }

    /// The structural hash of the value.
    pub fn hash_i64(&self) -> i64 {
        let record: *const KeyRecord = self.as_object().as_ptr().cast();
        // SAFETY: objects of this class have this layout (`Reflected`), and the reference keeps this one alive.
        unsafe { (*record).content.hash_i64 }
    }

    /// Whether two values are one, or keys of structurally equal values.
    ///
    /// # Errors
    /// InternalError for two values that are not both keys; those of [`structural_equal`].
    ///
    /// # Upstream
    /// `ffi.StructuralKeyEqual`.
    pub fn keys_equal(lhs: AnyView<'_>, rhs: AnyView<'_>) -> Result<bool> {
        let (left, right) = (lhs.as_raw(), rhs.as_raw());
        if (left.type_index, left.small_str_len, lhs.payload_bits())
            == (right.type_index, right.small_str_len, rhs.payload_bits())
        {
            return Ok(true);
        }
        let (left, right) = (key_in(lhs, "lhs_obj")?, key_in(rhs, "rhs_obj")?);
        Ok(left.hash_i64() == right.hash_i64()
            && structural_equal(&left.key(), &right.key(), Options::default())?)
    }
}

/// `__ffi_init__`: a key for this value.
fn init(key: Any) -> Result<ObjectRef> {
    StructuralKey::new(key).map(ObjectClass::into_object)
}

fn key_in(value: AnyView<'_>, name: &str) -> Result<StructuralKey> {
    value.try_get()?.ok_or_else(|| error!(INTERNAL_ERROR, "Check not null: {name} "))
}

/// Registers the hooks by which maps hash and compare keys, as addresses of C functions, unless they are there.
///
/// # Errors
/// MemoryError.
pub(super) fn register_hooks() -> Result<()> {
    let hooks = [("__any_hash__", any_hash as *mut c_void), ("__any_equal__", any_equal as *mut c_void)];
    hooks.into_iter().try_for_each(|(column, hook)| {
        if type_table::attr(CLASS.index(), column.as_bytes()).is_none() {
            type_table::register_attr(CLASS.index(), column.as_bytes(), AnyView::from(&hook))?;
        }
        Ok(())
    })
}

/// # Safety
/// `key` points to a value.
unsafe extern "C" fn any_hash(key: *const TVMFFIAny) -> TVMFFIAny {
    // SAFETY: the caller vouches for the cell.
    let key = unsafe { AnyView::from_raw(key.read()) };
    answer(key_in(key, "key_obj").map(|key| key.hash_i64().into()))
}

/// # Safety
/// `lhs` and `rhs` point to values.
unsafe extern "C" fn any_equal(lhs: *const TVMFFIAny, rhs: *const TVMFFIAny) -> TVMFFIAny {
    // SAFETY: the caller vouches for the cells.
    let (lhs, rhs) = unsafe { (AnyView::from_raw(lhs.read()), AnyView::from_raw(rhs.read())) };
    answer(StructuralKey::keys_equal(lhs, rhs).map(Any::from))
}

/// What such a hook gives back: its answer, or the error as a value.
fn answer(outcome: Result<Any>) -> TVMFFIAny {
    outcome.unwrap_or_else(Error::into_any).into_raw()
}
