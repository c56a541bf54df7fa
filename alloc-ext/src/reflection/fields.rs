//! Access to the registered fields of any type, and creation of objects by reflection.

use core::ffi::c_void;
use core::ptr::NonNull;
use ferrite_core::value::convert::OpaquePtr;

use ferrite_core::abi::{
    TVMFFIFieldInfo, TVMFFIFieldSetter, TVMFFIObject, kTVMFFIFieldFlagBitMaskDefaultFromFactory,
    kTVMFFIFieldFlagBitMaskHasDefault, kTVMFFIFieldFlagBitSetterIsFunctionObj, type_index,
};
use ferrite_core::call::function::{Function, checked};
use ferrite_core::class::is_of_rust;
use ferrite_core::error::Result;
use ferrite_core::names::type_table::{self, TypeEntry};
use ferrite_core::object::{ObjectClass, ObjectRef};
use ferrite_core::value::any::AnyView;
use ferrite_core::{error, plain_bail, plain_ensure, plain_error};

use crate::walk::ensure_unshared;

/// A field in the type table.
#[derive(Clone, Copy)]
pub(super) struct RegisteredField(&'static TVMFFIFieldInfo);

// SAFETY: published field records are immutable and never freed; their pointers are not bound to a
// thread.
unsafe impl Send for RegisteredField {}
// SAFETY: as for Send.
unsafe impl Sync for RegisteredField {}

/// Returns the type table entry of a type index.
///
/// # Errors
/// InternalError for an unknown type index.
pub(super) fn type_of(type_index: i32) -> Result<&'static TypeEntry> {
    type_table::type_info(type_index).ok_or_else(|| {
        plain_error!(INTERNAL_ERROR, "Cannot find type info for type_index={}", type_index)
    })
}

/// Returns the fields of a type: inherited fields first, except fields of ffi.Object.
pub(super) fn fields_of(entry: &'static TypeEntry) -> impl Iterator<Item = RegisteredField> {
    let inherited = entry.ancestors().iter().skip(1).filter_map(|ancestor| {
        // SAFETY: ancestors are registered types, whose records are never freed.
        type_table::type_info(unsafe { (**ancestor).type_index })
    });
    inherited
        .chain(core::iter::once(entry))
        .flat_map(|entry| entry.fields().iter().map(RegisteredField))
}

impl RegisteredField {
    pub(super) fn info(self) -> &'static TVMFFIFieldInfo {
        self.0
    }

    pub(super) fn name(self) -> &'static [u8] {
        // SAFETY: names of published fields are never freed.
        unsafe { self.0.name.as_slice() }
    }

    pub(super) fn has_flag(self, flag: i32) -> bool {
        self.0.flags & i64::from(flag) != 0
    }

    pub(super) fn has_default(self) -> bool {
        self.has_flag(kTVMFFIFieldFlagBitMaskHasDefault)
    }

    /// Returns `true` if a class in Rust defined the field, whose accessors borrow the object.
    pub(super) fn borrows_object(self) -> bool {
        is_of_rust(self.0)
    }

    /// Returns the address of the field in an object.
    pub(super) fn address(self, object: *mut TVMFFIObject) -> *mut c_void {
        object.cast::<u8>().wrapping_offset(self.0.offset as isize).cast()
    }

    /// Writes a value to the field of an object.
    ///
    /// # Errors
    /// Errors of the setter; InternalError if the field has no setter.
    ///
    /// # Safety
    /// The object must be an instance of the field's type, and the field must not be used
    /// concurrently.
    pub(super) unsafe fn set(self, object: &ObjectRef, value: AnyView<'_>) -> Result<()> {
        let address = self.address(object.as_ptr());
        let Some(setter) = NonNull::new(self.0.setter) else {
            plain_bail!(INTERNAL_ERROR, "The field `{}` has no setter", self.name());
        };
        if self.has_flag(kTVMFFIFieldFlagBitSetterIsFunctionObj) {
            // SAFETY: registration checked that the setter is a function object, and keeps it
            // alive.
            let setter =
                unsafe { Function::from_object_unchecked(ObjectRef::borrow_raw(setter.cast())) };
            // SAFETY: setters take the address of the field, which the caller guarantees.
            let address = unsafe { OpaquePtr::new(address) };
            return setter.call_packed(&[AnyView::from(&address), value]).map(drop);
        }
        // SAFETY: by its flags, the setter is a C function of this type.
        let setter = unsafe { core::mem::transmute::<NonNull<c_void>, TVMFFIFieldSetter>(setter) };
        // SAFETY: the caller guarantees the object; the code that registered the field guarantees
        // offset and setter.
        checked(|| unsafe { setter(address, value.as_raw()) })
    }

    /// Writes the default value, or the result of the default factory, to the field of an object.
    ///
    /// # Errors
    /// Errors of the factory and of the setter.
    ///
    /// # Safety
    /// Same requirements as [`RegisteredField::set`].
    pub(super) unsafe fn set_default(self, object: &ObjectRef) -> Result<()> {
        // SAFETY: the record owns its default and is never freed.
        let default = unsafe { AnyView::from_raw(self.0.default_value_or_factory) };
        if !self.has_flag(kTVMFFIFieldFlagBitMaskDefaultFromFactory) {
            // SAFETY: guaranteed by the caller.
            return unsafe { self.set(object, default) };
        }
        let made = default.get::<Function>()?.call_packed(&[])?;
        // SAFETY: guaranteed by the caller.
        unsafe { self.set(object, made.view()) }
    }
}

/// Creates an object with unset fields, by the native creator of its type, otherwise by the type's
/// `__ffi_new__`.
///
/// # Errors
/// RuntimeError for a type that has neither, and for an object with other references, whose fields
/// could not be set; MemoryError, also if the library's own types could not be registered; errors
/// of the creator; InternalError if the creator returns no object or an object of another type.
///
/// # Upstream
/// `CreateEmptyObject` in `reflection/creator.h`.
pub(crate) fn create_empty(entry: &TypeEntry) -> Result<ObjectRef> {
    let object = create(entry)?;
    plain_ensure!(
        type_table::is_instance(object.type_index(), entry.type_index()),
        INTERNAL_ERROR,
        "The creator of type `{}` made an object of type `{}`",
        entry.type_key(),
        type_table::type_key_of(object.type_index())
    );
    ensure_unshared(&object, "The creator")?;
    Ok(object)
}

/// Returns `true` if [`create_empty`] supports a type.
///
/// # Upstream
/// `HasCreator` in `reflection/creator.h`.
pub(crate) fn has_creator(entry: &TypeEntry) -> bool {
    entry.metadata().is_some_and(|metadata| metadata.creator.is_some())
        || type_table::attr(entry.type_index(), b"__ffi_new__").type_index() == type_index::FUNCTION
}

fn create(entry: &TypeEntry) -> Result<ObjectRef> {
    if let Some(creator) = entry.metadata().and_then(|metadata| metadata.creator) {
        let mut handle = core::ptr::null_mut();
        // SAFETY: a creator takes an out-pointer for the object (ABI).
        checked(|| unsafe { creator(&mut handle) })?;
        return match NonNull::new(handle.cast::<TVMFFIObject>()) {
            // SAFETY: the creator transfers ownership of its reference (ABI).
            Some(object) => Ok(unsafe { ObjectRef::from_raw(object) }),
            None => {
                plain_bail!(
                    INTERNAL_ERROR,
                    "The creator of type `{}` made no object",
                    entry.type_key()
                )
            }
        };
    }
    match type_table::attr(entry.type_index(), b"__ffi_new__").try_get::<Function>()? {
        Some(new) => new.call_packed(&[])?.get::<ObjectRef>(),
        None if type_table::lacks_provided() => Err(error::out_of_memory(size_of::<ObjectRef>())),
        None => plain_bail!(
            RUNTIME_ERROR,
            "Type `{}` does not support reflection creation (no native creator or __ffi_new__ type attr)",
            entry.type_key()
        ),
    }
}
