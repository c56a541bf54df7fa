//! Structural keys: map keys that compare and hash a value by structure.

use ferrite_core::abi::type_index;
use ferrite_core::error::Result;
use ferrite_core::names::builtins::StaticFunction;
use ferrite_core::object::{ObjectClass, ObjectRef};
use ferrite_core::value::any::{Any, AnyView};
use ferrite_core::{object_class, plain_error, static_function};

use super::equal::{Options, structural_equal, structural_hash};
use crate::containers::key;
use crate::reflection::class::{Class, Method, attr, method};
use crate::reflection::field::field;
use crate::reflection::record::{self, Record, Reflected};
use crate::reflection::register;

object_class! {
    /// Map key that compares and hashes its value structurally. The hash is computed once, at
    /// creation.
    ///
    /// # Upstream
    /// `StructuralKeyObj` in `extra/structural_key.h`.
    pub struct StructuralKey, CLASS.index(), "ffi.StructuralKey"
}

/// Fields of a [`StructuralKey`].
#[repr(C)]
#[derive(Clone)]
pub(crate) struct KeyContent {
    key: Any,
    hash_i64: i64,
}

type KeyRecord = Record<KeyContent>;

/// Static function table of this module.
///
/// # Upstream
/// The registrations in `structural_key.cc`.
pub static FUNCTIONS: &[StaticFunction] = &[
    static_function!("ffi.StructuralKey", StructuralKey::new),
    static_function!("ffi.StructuralKeyEqual", key_equal),
];

static CLASS: Class = Class {
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
    /// Creates a key for a value.
    ///
    /// # Errors
    /// Errors of [`structural_hash`].
    ///
    /// # Examples
    /// ```
    /// use ferrite_alloc_ext::structural::key::StructuralKey;
    /// use ferrite_alloc_ext::{json, reflection, structural};
    ///
    /// # fn main() -> ferrite_core::Result<()> {
    /// reflection::install()?;
    /// structural::install()?;
    /// let one = StructuralKey::new(json::parse(b"[1, 2]")?)?;
    /// let other = StructuralKey::new(json::parse(b"[1, 2]")?)?;
    /// assert_eq!(one.hash_i64(), other.hash_i64());
    /// # Ok(())
    /// # }
    /// ```
    pub fn new(key: Any) -> Result<StructuralKey> {
        let hash = structural_hash(&key, Options::default())?;
        record::make(KeyContent { key, hash_i64: hash as i64 })
    }

    /// Returns the value that the key was created for.
    pub fn key(&self) -> Any {
        record::content_of(self).key
    }

    /// Returns the structural hash of the value.
    pub fn hash_i64(&self) -> i64 {
        let record: *const KeyRecord = self.as_object().as_ptr().cast();
        // SAFETY: objects of this class have this layout (`Reflected`), and the reference keeps
        // this one alive.
        unsafe { (*record).content.hash_i64 }
    }

    /// Returns `true` if two values are identical, or are keys whose values are structurally equal.
    ///
    /// # Errors
    /// InternalError if the values are not identical and not both keys; errors of
    /// [`structural_equal`].
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

/// Implements `__ffi_init__`: creates a key for a value.
fn init(key: Any) -> Result<ObjectRef> {
    StructuralKey::new(key).map(ObjectClass::into_object)
}

/// Implements `ffi.StructuralKeyEqual`. See [`StructuralKey::keys_equal`].
fn key_equal(lhs: Any, rhs: Any) -> Result<bool> {
    StructuralKey::keys_equal(lhs.view(), rhs.view())
}

fn key_in(value: AnyView<'_>, name: &str) -> Result<StructuralKey> {
    value.try_get()?.ok_or_else(|| plain_error!(INTERNAL_ERROR, "Check not null: {} ", name))
}

/// Registers the class and its hash and equality hooks, unless they are registered already. The
/// hooks are function objects, which clients of all upstream versions can call.
///
/// # Errors
/// MemoryError.
pub(super) fn install() -> Result<()> {
    register(&CLASS)?;
    static HASH: StaticFunction =
        static_function!(concat!("ffi.StructuralKey.", "__any_hash__"), any_hash);
    static EQUAL: StaticFunction =
        static_function!(concat!("ffi.StructuralKey.", "__any_equal__"), key_equal);
    key::install(CLASS.index(), "__any_hash__", &HASH)?;
    key::install(CLASS.index(), "__any_equal__", &EQUAL)
}

fn any_hash(key: StructuralKey) -> i64 {
    key.hash_i64()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::containers::{ArrayObject, MapObject};

    fn key(numbers: &[i64]) -> Result<StructuralKey> {
        let mut array = ArrayObject::with_capacity(numbers.len())?;
        numbers.iter().try_for_each(|number| array.push(Any::from(*number)))?;
        StructuralKey::new(Any::new(array))
    }

    #[test]
    fn equal_values_are_one_key() -> Result<()> {
        install()?;
        let mut map = MapObject::with_capacity(0)?;
        for (place, numbers) in [[1, 2, 3], [1, 2, 3], [1, 3, 5]].into_iter().enumerate() {
            map.insert(Any::new(key(&numbers)?), Any::from(place))?;
        }
        assert_eq!(map.len(), 2);
        assert_eq!(map.at(Any::new(key(&[1, 2, 3])?).view())?.get::<i64>()?, 1);
        assert!(!map.contains(Any::new(key(&[1, 2])?).view())?);
        Ok(())
    }

    #[test]
    fn keys_know_the_hash_of_their_value() -> Result<()> {
        let key = key(&[1, 2])?;
        assert_eq!(key.hash_i64(), 2_823_322_240_268_045_181);
        assert_eq!(structural_hash(&key.key(), Options::default())? as i64, key.hash_i64());
        Ok(())
    }

    #[test]
    fn only_keys_are_compared() -> Result<()> {
        let one = Any::new(key(&[1])?);
        let message = |lhs: &Any, rhs: &Any| {
            StructuralKey::keys_equal(lhs.view(), rhs.view())
                .map_err(|error| error.message_bytes().to_vec())
        };
        assert_eq!(message(&one, &Any::new(key(&[1])?)), Ok(true));
        assert_eq!(message(&one, &Any::new(key(&[2])?)), Ok(false));
        assert_eq!(message(&Any::from(1i64), &Any::from(1i64)), Ok(true));
        assert_eq!(message(&Any::from(1i64), &one), Err(b"Check not null: lhs_obj ".to_vec()));
        assert_eq!(message(&one, &Any::NONE), Err(b"Check not null: rhs_obj ".to_vec()));
        Ok(())
    }
}
