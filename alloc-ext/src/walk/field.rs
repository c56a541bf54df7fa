//! Reflected fields: which a type has, and how they are read and written in an object.

use core::ffi::{c_int, c_void};
use core::{ptr, slice};

use ferrite_core::abi::{
    TVMFFIAny, TVMFFIFieldInfo, TVMFFITypeInfo, kTVMFFIFieldFlagBitMaskDefaultFromFactory,
    kTVMFFIFieldFlagBitMaskHasDefault, kTVMFFIFieldFlagBitSetterIsFunctionObj,
};
use ferrite_core::any::{Any, AnyView};
use ferrite_core::error::{Error, Result};
use ferrite_core::function::{Function, check_status};
use ferrite_core::object::{ObjectClass, ObjectRef};
use ferrite_core::type_table::TypeEntry;
use ferrite_core::{plain_bail, plain_error, type_index, type_table};

/// A field that is written by a C function.
type FieldSetter = unsafe extern "C" fn(field: *mut c_void, value: *const TVMFFIAny) -> c_int;

/// One field of a registered type; such records stay for ever.
#[derive(Clone, Copy)]
pub struct Field {
    info: &'static TVMFFIFieldInfo,
}

impl Field {
    /// The name, as registered.
    pub fn name(self) -> &'static [u8] {
        if self.info.name.data.is_null() {
            return &[];
        }
        // SAFETY: the type table keeps the names of fields for ever.
        unsafe { core::slice::from_raw_parts(self.info.name.data.cast(), self.info.name.size) }
    }

    /// The bits of `TVMFFIFieldFlagBitMask`.
    pub fn flags(self) -> i64 {
        self.info.flags
    }

    /// The type index that every value of the field has, or -1 where values may differ in type.
    pub fn static_type_index(self) -> i32 {
        self.info.field_static_type_index
    }

    /// The value of the field in an object whose type has it.
    ///
    /// # Errors
    /// Those of the getter; RuntimeError when there is none; TypeError when `object` is no object.
    ///
    /// # Upstream
    /// `FieldGetter` in `reflection/accessor.h`.
    pub fn get(self, object: &Any) -> Result<Any> {
        let mut value = Any::NONE;
        self.read(self.owner(object)?, &mut value)?;
        Ok(value)
    }

    /// Puts the value of the field in an object whose type has it into `place`, where it need not be copied from.
    ///
    /// # Errors
    /// As for [`get`](Self::get); the place is None then.
    #[inline]
    pub fn read(self, object: &ObjectRef, place: &mut Any) -> Result<()> {
        *place = Any::NONE;
        let Some(getter) = self.info.getter else { return Err(self.unreadable()) };
        let place = ptr::from_mut(place).cast::<TVMFFIAny>();
        // SAFETY: whoever registered the field vouches for the getter at this offset, which gives an owned value where it
        // succeeds; the object is alive; Any is transparent over the cell.
        let status = unsafe { getter(self.address_in(object), place) };
        if status == 0 {
            return Ok(());
        }
        // SAFETY: as above; what a getter leaves behind when it fails is owned by nobody.
        unsafe { place.write(TVMFFIAny::NONE) };
        check_status(status)
    }

    #[cold]
    fn unreadable(self) -> Error {
        plain_error!(RUNTIME_ERROR, "Field `{}` has no getter", self.name())
    }

    /// Whether the field can be written.
    pub fn has_setter(self) -> bool {
        !self.info.setter.is_null()
    }

    /// Writes the field, also one that is read-only for users, in an object whose type has it.
    ///
    /// # Errors
    /// Those of the setter, as for a value of the wrong type; RuntimeError when there is none.
    ///
    /// # Upstream
    /// `FieldSetter` in `reflection/accessor.h`.
    pub fn set(self, object: &Any, value: &Any) -> Result<()> {
        let address = self.address_in(self.owner(object)?);
        let setter = self.info.setter;
        if setter.is_null() {
            plain_bail!(RUNTIME_ERROR, "Field `{}` has no setter", self.name());
        }
        let is_function = kTVMFFIFieldFlagBitSetterIsFunctionObj as i64;
        if self.info.flags & is_function != 0 {
            // SAFETY: the flag says that the setter is a function object, which the type table keeps for ever.
            let function = unsafe { function_of(setter) };
            return function.call(&[AnyView::from(&address), value.view()]).map(drop);
        }
        // SAFETY: without the flag the setter is a function of this type (ABI).
        let setter = unsafe { core::mem::transmute::<*mut c_void, FieldSetter>(setter) };
        // SAFETY: whoever registered the field vouches for the setter at this offset; object and value are alive.
        check_status(unsafe { setter(address, value.as_raw()) })
    }

    /// Whether the field has a default.
    pub fn has_default(self) -> bool {
        self.info.flags & i64::from(kTVMFFIFieldFlagBitMaskHasDefault) != 0
    }

    /// Writes the default, which a factory makes where the field says so, in an object whose type has the field.
    ///
    /// # Errors
    /// Those of the factory and of [`Field::set`].
    ///
    /// # Upstream
    /// `SetFieldToDefault` in `reflection/accessor.h`.
    pub fn set_default(self, object: &Any) -> Result<()> {
        // SAFETY: the type table keeps the defaults of fields for ever.
        let default = unsafe { AnyView::from_raw(self.info.default_value_or_factory) };
        if self.info.flags & i64::from(kTVMFFIFieldFlagBitMaskDefaultFromFactory) != 0 {
            return self.set(object, &default.get::<Function>()?.call(&[])?);
        }
        self.set(object, &default.to_owned()?)
    }

    fn owner(self, object: &Any) -> Result<&ObjectRef> {
        match object.as_object() {
            Some(object) => Ok(object),
            None => plain_bail!(TYPE_ERROR, "Only objects have the field `{}`", self.name()),
        }
    }

    fn address_in(self, object: &ObjectRef) -> *mut c_void {
        object.as_ptr().cast::<u8>().wrapping_offset(self.info.offset as isize).cast()
    }
}

/// # Safety
/// `setter` is a live function object.
unsafe fn function_of(setter: *mut c_void) -> Function {
    // SAFETY: the caller vouches for the object, so it is not null.
    unsafe {
        let object = core::ptr::NonNull::new_unchecked(setter.cast());
        Function::from_object_unchecked(ObjectRef::borrow_raw(object))
    }
}

/// The fields of a type: those of its ancestors first, each type's in the order of registration.
///
/// Nothing is allocated, and fields that are registered meanwhile may or may not be seen.
///
/// # Upstream
/// `ForEachFieldInfo` in `reflection/accessor.h`.
#[derive(Clone, Default)]
pub struct Fields {
    /// The ancestors whose fields are still to come.
    ancestors: slice::Iter<'static, *const TVMFFITypeInfo>,
    /// What is left of the type at hand.
    fields: slice::Iter<'static, TVMFFIFieldInfo>,
    /// The type itself, until its turn.
    last: Option<&'static TypeEntry>,
}

impl Fields {
    /// Those of a registered type.
    pub fn of(entry: &'static TypeEntry) -> Self {
        // The root object has no fields.
        match entry.ancestors().get(1..) {
            Some(ancestors @ [_, ..]) => {
                Self { ancestors: ancestors.iter(), fields: [].iter(), last: Some(entry) }
            }
            _ => Self { ancestors: [].iter(), fields: entry.fields().iter(), last: None },
        }
    }
}

impl Iterator for Fields {
    type Item = Field;

    #[inline]
    fn next(&mut self) -> Option<Field> {
        loop {
            if let Some(info) = self.fields.next() {
                return Some(Field { info });
            }
            self.last?;
            self.go_to_next_type()?;
        }
    }
}

impl Fields {
    /// None when no type is left.
    #[inline(never)]
    fn go_to_next_type(&mut self) -> Option<()> {
        let entry = match self.ancestors.next() {
            Some(ancestor) => type_table::type_info(index_of(*ancestor)),
            None => Some(self.last.take()?),
        };
        self.fields = entry.map_or_else(Default::default, |entry| entry.fields().iter());
        Some(())
    }
}

/// Calls `visit` with every one of the [`Fields`] of a type.
///
/// # Errors
/// Those of `visit`, which ends the walk; InternalError for a type that is not registered.
pub fn for_each_field(type_index: i32, visit: impl FnMut(Field) -> Result<()>) -> Result<()> {
    let Some(entry) = type_table::type_info(type_index) else {
        plain_bail!(INTERNAL_ERROR, "There is no type with index {}", type_index);
    };
    Fields::of(entry).try_for_each(visit)
}

fn index_of(ancestor: *const TVMFFITypeInfo) -> i32 {
    // SAFETY: ancestors are the records of registered types, whose index never changes.
    if ancestor.is_null() { type_index::OBJECT } else { unsafe { (*ancestor).type_index } }
}
