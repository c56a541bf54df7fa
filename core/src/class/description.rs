//! Static descriptions of classes, fields and methods, as `derive(Object)` and `object_methods`
//! write them.

use crate::abi::{
    TVMFFIFieldGetter, TVMFFIFieldSetter, TVMFFIObjectCreator,
    kTVMFFIFieldFlagBitMaskDefaultFromFactory, kTVMFFIFieldFlagBitMaskHasDefault,
};
use crate::call::function::Function;
use crate::class::registration::DescribedFunction;
use crate::error::Result;
use crate::platform::sync::atomic::{AtomicI32, AtomicUsize};
use crate::value::any::Any;
use crate::value::convert::{TypeText, Value};

use super::access::{field_getter, field_setter};
use super::binding::{KeyBinding, UNREGISTERED};
use super::elsewhere::FieldLayout;
use super::register::NEW;
use super::{Object, ObjectRecordOf};

/// Static description of a class, with the state of its registration.
pub struct Class {
    /// Binding of the class to the type index that its key has in this binary.
    pub(super) binding: KeyBinding,
    /// The type index of new objects, or [`UNREGISTERED`] while Rust code may create none.
    pub(super) creation: AtomicI32,
    /// Progress of the registration, see `register.rs`.
    pub(super) progress: AtomicUsize,
    pub(super) key: &'static str,
    /// Size of an object in bytes.
    pub(super) size: usize,
    /// Whether objects may be borrowed exclusively.
    pub(super) mutable: bool,
    pub(super) options: ClassOptions,
}

/// The parts of a [`Class`] that depend on its attributes.
pub struct ClassOptions {
    /// Documentation string.
    pub doc: &'static str,
    /// The parent class; `None` for direct subclasses of ffi.Object.
    pub parent: Option<fn() -> &'static Class>,
    /// A `kTVMFFISEqHashKind` constant.
    pub structural: i32,
    /// Whether the class is final: other languages cannot derive classes from it.
    pub is_final: bool,
    /// Number of type indices to reserve for derived classes.
    pub child_slots: i32,
    /// Creates an object with initial values; `None` if a field has no initial value.
    pub creator: Option<TVMFFIObjectCreator>,
    /// Creates the function of `__ffi_shallow_copy__`; `None` for classes that are not copied.
    pub copy: Option<fn() -> Result<Function>>,
    /// Whether the content has fields that are not among `fields`, so that only this binary knows
    /// them.
    pub hides_fields: bool,
    /// Fields, without those of the parent.
    pub fields: &'static [Field],
    /// Methods, without those of the parent.
    pub methods: &'static [Method],
}

impl Class {
    /// Describes the class of `T`.
    pub const fn new<T: Object>(options: ClassOptions) -> Class {
        Class {
            binding: KeyBinding::new(),
            creation: AtomicI32::new(UNREGISTERED),
            progress: AtomicUsize::new(NEW),
            key: T::TYPE_KEY,
            size: size_of::<ObjectRecordOf<T>>(),
            mutable: T::MUTABLE,
            options,
        }
    }

    /// Returns the type key.
    pub const fn key(&self) -> &'static str {
        self.key
    }

    /// Returns the number of ancestors.
    pub(super) fn depth(&self) -> i32 {
        self.options.parent.map_or(1, |parent| parent().depth() + 1)
    }
}

/// Static description of a field.
#[derive(Clone, Copy)]
pub struct Field {
    pub(super) name: &'static str,
    pub(super) doc: &'static str,
    pub(super) flags: i32,
    /// Offset from the object's handle, in bytes.
    pub(super) offset: usize,
    pub(super) size: usize,
    pub(super) alignment: usize,
    pub(super) getter: TVMFFIFieldGetter,
    pub(super) setter: TVMFFIFieldSetter,
    pub(super) text: &'static TypeText,
    pub(super) default: Option<Default>,
    /// The representation in memory, if other languages and binaries have the same.
    pub(super) layout: Option<FieldLayout>,
}

/// The default value of a field.
#[derive(Clone, Copy)]
pub enum Default {
    /// Computed once, when the class is registered.
    Value(fn() -> Result<Any>),
    /// Computed for each object.
    Factory(fn() -> Result<Any>),
}

/// A type that fields of classes may have.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the type of a field",
    note = "the type of a field is a `Value` and `Clone`; `#[object(skip)]` leaves a field out of the reflection"
)]
pub trait FieldType: Value + Clone {}

impl<T: Value + Clone> FieldType for T {}

impl Field {
    /// Describes a field of type `T` at `OFFSET` bytes from the object's handle.
    ///
    /// # Safety
    /// Objects of the class must have a `T` at this offset.
    pub const unsafe fn new<T: FieldType, const OFFSET: usize>(
        name: &'static str,
        doc: &'static str,
    ) -> Field {
        Field {
            name,
            doc,
            flags: 0,
            offset: OFFSET,
            size: size_of::<T>(),
            alignment: align_of::<T>(),
            getter: field_getter::<T, OFFSET>,
            setter: field_setter::<T, OFFSET>,
            text: T::TYPE,
            default: None,
            layout: None,
        }
    }

    /// Declares that the field has the layout of its type in every language.
    pub const fn with_layout(self, layout: Option<FieldLayout>) -> Field {
        Field { layout, ..self }
    }

    /// Adds `kTVMFFIFieldFlagBitMask` flags.
    pub const fn with_flags(self, flags: i32) -> Field {
        Field { flags: self.flags | flags, ..self }
    }

    /// Sets the default value, and the flags that describe it.
    pub const fn with_default(self, default: Default) -> Field {
        let flags = match default {
            Default::Value(_) => kTVMFFIFieldFlagBitMaskHasDefault,
            Default::Factory(_) => {
                kTVMFFIFieldFlagBitMaskHasDefault | kTVMFFIFieldFlagBitMaskDefaultFromFactory
            }
        };
        Field { default: Some(default), ..self.with_flags(flags) }
    }
}

/// Static description of a method or hook.
pub struct Method {
    /// The name of the method, or of the type attribute of a hook.
    pub name: &'static str,
    /// Documentation string.
    pub doc: &'static str,
    /// The kind of the method.
    pub kind: MethodKind,
    /// Creates the function.
    pub function: fn() -> Result<DescribedFunction>,
}

/// Kinds of methods.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum MethodKind {
    /// Takes the object as first argument.
    Instance,
    /// Takes no object.
    Static,
    /// A static method that is also the type attribute `__ffi_init__`.
    Constructor,
    /// A function that is only a type attribute, such as `__ffi_repr__`.
    Hook,
}
