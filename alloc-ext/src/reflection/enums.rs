//! Enum classes: singletons with an integer index and a string index, and the registry of each
//! class.

use ferrite_core::abi::{
    kTVMFFIFieldFlagBitMaskInitOff, kTVMFFIFieldFlagBitMaskSEqHashIgnore,
    kTVMFFISEqHashKindUniqueInstance, type_index,
};
use ferrite_core::error::Result;
use ferrite_core::names::type_table;
use ferrite_core::object::ObjectRef;
use ferrite_core::platform::text::Lossy;
use ferrite_core::value::any::Any;
use ferrite_core::{String, object_class, plain_bail};

use super::class::{Class, attr, method};
use super::field::field;
use super::record::{self, Record, Reflected};
use crate::containers::{Dict, List};

object_class! {
    /// Registry of an enum class: its singletons and their attributes. Stored in the type attribute
    /// `__ffi_enum__`.
    ///
    /// # Upstream
    /// `EnumStateObj` in `enum.h`.
    pub struct EnumState, STATE.index(), "ffi.EnumState"
}

object_class! {
    /// Singleton of an enum class.
    ///
    /// # Upstream
    /// `EnumObj` in `enum.h`.
    pub struct Enum, ENUM.index(), "ffi.Enum"
}

object_class! {
    /// Singleton of an enum class with integer values.
    ///
    /// # Upstream
    /// `IntEnumObj` in `enum.h`.
    pub struct IntEnum, INT_ENUM.index(), "ffi.IntEnum"
}

object_class! {
    /// Singleton of an enum class with string values.
    ///
    /// # Upstream
    /// `StrEnumObj` in `enum.h`.
    pub struct StrEnum, STR_ENUM.index(), "ffi.StrEnum"
}

/// Fields of an [`EnumState`].
#[repr(C)]
#[derive(Clone)]
pub(crate) struct StateContent {
    /// Singletons in registration order.
    entries: List<ObjectRef>,
    /// Singletons by integer index and by string index.
    indexes: Dict<Any, ObjectRef>,
    /// Attribute values by attribute name, then by singleton.
    attrs: Dict<String, Dict<ObjectRef, Any>>,
}

/// Fields of an [`Enum`], [`IntEnum`] or [`StrEnum`].
#[repr(C)]
#[derive(Clone)]
pub(crate) struct EnumContent {
    pub(super) int_index: i64,
    pub(super) str_index: String,
}

type StateRecord = Record<StateContent>;
type EnumRecord = Record<EnumContent>;

pub(super) static STATE: Class = Class {
    creator: Some(record::create::<EnumState>),
    fields: &[
        field!(StateRecord, content.entries: List<ObjectRef>, "entries", type_index::LIST)
            .with_flags(kTVMFFIFieldFlagBitMaskInitOff)
            .with_doc("Enum singletons in registration order."),
        field!(StateRecord, content.indexes: Dict<Any, ObjectRef>, "indexes", type_index::OBJECT)
            .with_flags(kTVMFFIFieldFlagBitMaskInitOff)
            .with_doc("Canonical integer and string indices to enum singletons."),
        field!(StateRecord, content.attrs: Dict<String, Dict<ObjectRef, Any>>, "attrs", type_index::OBJECT)
            .with_flags(kTVMFFIFieldFlagBitMaskInitOff)
            .with_doc("Extensible-attribute columns keyed by enum singleton."),
    ],
    methods: &[method!(static "ffi.EnumState", "__ffi_init__", record::new::<EnumState>)],
    attrs: &[
        attr!("ffi.EnumState", "__ffi_init__", record::new::<EnumState>),
        attr!("ffi.EnumState", "__ffi_new__", record::new::<EnumState>),
        attr!("ffi.EnumState", "__ffi_shallow_copy__", record::shallow_copy::<EnumState>),
    ],
    ..Class::new("ffi.EnumState", size_of::<StateRecord>())
};

pub(super) static ENUM: Class = Class {
    creator: Some(record::create::<Enum>),
    kind: kTVMFFISEqHashKindUniqueInstance,
    is_final: false,
    fields: &[
        field!(EnumRecord, content.int_index: i64, "_int_index", type_index::INT)
            .with_flags(kTVMFFIFieldFlagBitMaskSEqHashIgnore)
            .with_doc("Canonical integer index."),
        field!(EnumRecord, content.str_index: String, "_str_index", type_index::ANY)
            .with_doc("Canonical string index."),
    ],
    attrs: &[
        attr!("ffi.Enum", "__ffi_new__", record::new::<Enum>),
        attr!("ffi.Enum", "__ffi_shallow_copy__", record::shallow_copy::<Enum>),
    ],
    ..Class::new("ffi.Enum", size_of::<EnumRecord>())
};

pub(super) static INT_ENUM: Class = Class {
    parent: Some(&ENUM),
    creator: Some(record::create::<IntEnum>),
    kind: kTVMFFISEqHashKindUniqueInstance,
    is_final: false,
    fields: &[field!(EnumRecord, content.int_index: i64, "value", type_index::INT)
        .with_flags(kTVMFFIFieldFlagBitMaskInitOff | kTVMFFIFieldFlagBitMaskSEqHashIgnore)
        .with_doc("Canonical integer index.")],
    attrs: &[
        attr!("ffi.IntEnum", "__ffi_new__", record::new::<IntEnum>),
        attr!("ffi.IntEnum", "__ffi_shallow_copy__", record::shallow_copy::<IntEnum>),
        attr!("ffi.IntEnum", "__ffi_convert__", super::convert::convert::<IntEnum>),
    ],
    ..Class::new("ffi.IntEnum", size_of::<EnumRecord>())
};

pub(super) static STR_ENUM: Class = Class {
    parent: Some(&ENUM),
    creator: Some(record::create::<StrEnum>),
    kind: kTVMFFISEqHashKindUniqueInstance,
    is_final: false,
    fields: &[field!(EnumRecord, content.str_index: String, "value", type_index::ANY)
        .with_flags(kTVMFFIFieldFlagBitMaskInitOff | kTVMFFIFieldFlagBitMaskSEqHashIgnore)
        .with_doc("Canonical string index.")],
    attrs: &[
        attr!("ffi.StrEnum", "__ffi_new__", record::new::<StrEnum>),
        attr!("ffi.StrEnum", "__ffi_shallow_copy__", record::shallow_copy::<StrEnum>),
        attr!("ffi.StrEnum", "__ffi_convert__", super::convert::convert::<StrEnum>),
    ],
    ..Class::new("ffi.StrEnum", size_of::<EnumRecord>())
};

// SAFETY: upstream's layout; references to containers are sendable.
unsafe impl Reflected for EnumState {
    type Content = StateContent;

    fn class() -> &'static Class {
        &STATE
    }

    fn empty() -> Result<StateContent> {
        Ok(StateContent { entries: List::new()?, indexes: Dict::new()?, attrs: Dict::new()? })
    }
}

macro_rules! reflected_enum {
    ($name:ident, $class:ident) => {
        // SAFETY: upstream's layout; integers and strings are sendable.
        unsafe impl Reflected for $name {
            type Content = EnumContent;

            fn class() -> &'static Class {
                &$class
            }

            fn empty() -> Result<EnumContent> {
                Ok(EnumContent { int_index: 0, str_index: String::EMPTY })
            }
        }
    };
}

reflected_enum!(Enum, ENUM);
reflected_enum!(IntEnum, INT_ENUM);
reflected_enum!(StrEnum, STR_ENUM);

impl Enum {
    /// Looks up the singleton of an enum class by its integer or string index.
    ///
    /// # Errors
    /// ValueError if there is none; TypeError if the registry contains an object that is not an
    /// enum; MemoryError.
    ///
    /// # Upstream
    /// `EnumObj::_GetByIntIndex` and `EnumObj::_GetByStrIndex` in `enum.h`.
    pub(crate) fn with_index(type_index: i32, index: &Any) -> Result<Enum> {
        let state = type_table::attr(type_index, b"__ffi_enum__").get::<Option<EnumState>>()?;
        let found = match state {
            Some(state) => record::content_of(&state).indexes.get(index)?,
            None => None,
        };
        let class = Lossy(type_table::type_key_of(type_index));
        match (found, index.view().bytes_of_string()) {
            (Some(found), _) => Any::new(found).get(),
            (None, Some(name)) => {
                plain_bail!(VALUE_ERROR, "Enum `{}` has no instance with index {}", class, name)
            }
            (None, None) => {
                plain_bail!(
                    VALUE_ERROR,
                    "Enum `{}` has no instance with index {}",
                    class,
                    &index.get::<i64>()?
                )
            }
        }
    }

    /// Returns the integer index of the singleton in its class.
    pub fn int_index(&self) -> i64 {
        record::content_of(self).int_index
    }

    /// Returns the string index of the singleton in its class.
    pub fn str_index(&self) -> String {
        record::content_of(self).str_index
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrite_core::object::ObjectClass;

    #[test]
    fn a_new_state_is_empty() -> Result<()> {
        let state = record::content_of(&record::make::<EnumState>(EnumState::empty()?)?);
        assert_eq!((state.entries.len(), state.indexes.len(), state.attrs.len()), (0, 0, 0));
        Ok(())
    }

    #[test]
    fn kinds_of_enums_are_enums() -> Result<()> {
        let content = EnumContent { int_index: 3, str_index: String::new("three")? };
        let object = record::make::<IntEnum>(content)?.into_object();
        let copy = record::shallow_copy(object.downcast::<IntEnum>().unwrap())?;
        let copy = copy.downcast::<Enum>().unwrap();
        assert_eq!((copy.int_index(), copy.str_index()), (3, String::new("three")?));
        assert!(copy.into_object().downcast::<StrEnum>().is_err());
        Ok(())
    }
}
