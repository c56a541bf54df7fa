//! Reflected fields of a type: enumeration, reading and writing.

use core::ffi::{c_int, c_void};
use core::{ptr, slice};
use ferrite_core::value::convert::OpaquePtr;

use ferrite_core::abi::{
    TVMFFIAny, TVMFFIFieldInfo, TVMFFITypeInfo, kTVMFFIFieldFlagBitMaskDefaultFromFactory,
    kTVMFFIFieldFlagBitMaskHasDefault, kTVMFFIFieldFlagBitSetterIsFunctionObj, type_index,
};
use ferrite_core::call::function::{Function, checked, failure_unmarked};
use ferrite_core::error::{Error, Result};
use ferrite_core::names::type_table;
use ferrite_core::names::type_table::TypeEntry;
use ferrite_core::object::{ObjectClass, ObjectRef};
use ferrite_core::platform::text::Lossy;
use ferrite_core::value::any::{Any, AnyView};
use ferrite_core::{plain_bail, plain_error};

/// C function that writes a field, given the address of the field. Returns 0 on success.
type FieldSetter = unsafe extern "C" fn(field: *mut c_void, value: *const TVMFFIAny) -> c_int;

/// Reflected field of a registered type. Copies are cheap; the type table never frees field
/// records.
#[derive(Clone, Copy)]
pub struct Field {
    info: &'static TVMFFIFieldInfo,
}

impl Field {
    /// Returns the name, as registered: bytes that need not be UTF-8.
    pub fn name(self) -> &'static [u8] {
        if self.info.name.data.is_null() {
            return &[];
        }
        // SAFETY: the type table never frees the names of fields.
        unsafe { core::slice::from_raw_parts(self.info.name.data.cast(), self.info.name.size) }
    }

    /// Returns the flags, a combination of `TVMFFIFieldFlagBitMask` bits.
    pub fn flags(self) -> i64 {
        self.info.flags
    }

    /// Returns the static type index of the field's values, or -1 if their types differ.
    pub fn static_type_index(self) -> i32 {
        self.info.field_static_type_index
    }

    /// Returns the value of the field. Only for objects whose type has the field, which is not
    /// checked.
    ///
    /// # Errors
    /// Errors of the getter; RuntimeError if the field has no getter; TypeError if `object` is not
    /// an object.
    ///
    /// # Upstream
    /// `FieldGetter` in `reflection/accessor.h`.
    pub(crate) fn get(self, object: &Any) -> Result<Any> {
        let mut value = Any::NONE;
        self.read(self.owner(object)?, &mut value)?;
        Ok(value)
    }

    /// Reads the value of the field into `place`, without copying the result. The type of `object`
    /// must have the field.
    ///
    /// # Errors
    /// Errors of the getter; RuntimeError if the field has no getter. `place` is None after an
    /// error.
    #[inline]
    pub(crate) fn read(self, object: &ObjectRef, place: &mut Any) -> Result<()> {
        *place = Any::NONE;
        let Some(getter) = self.info.getter else { return Err(self.unreadable()) };
        let place = ptr::from_mut(place).cast::<TVMFFIAny>();
        // SAFETY: the code that registered the field guarantees a getter that fits this offset and
        // returns an owned value on success; the object is alive; Any is transparent over the cell.
        let status = unsafe { getter(self.address_in(object), place) };
        if status == 0 {
            return Ok(());
        }
        // SAFETY: as above; a failed getter transfers no ownership.
        unsafe { place.write(TVMFFIAny::NONE) };
        Err(failure_unmarked(status))
    }

    #[cold]
    fn unreadable(self) -> Error {
        plain_error!(RUNTIME_ERROR, "Field `{}` has no getter", self.name())
    }

    /// Returns `true` if the field can be written.
    pub(crate) fn has_setter(self) -> bool {
        !self.info.setter.is_null()
    }

    /// Writes the field, even if it is read-only for users. The type of `object` must have the
    /// field, and nothing but this walk may reach the object, which [`ensure_unshared`] checked
    /// when it was made: content of classes that never change is read without a borrow. Hence not
    /// public.
    ///
    /// # Errors
    /// Errors of the setter, for example for a value of the wrong type; RuntimeError if the field
    /// has no setter; TypeError if `object` is not an object.
    ///
    /// # Upstream
    /// `FieldSetter` in `reflection/accessor.h`.
    pub(crate) fn set(self, object: &Any, value: &Any) -> Result<()> {
        let address = self.address_in(self.owner(object)?);
        let setter = self.info.setter;
        if setter.is_null() {
            plain_bail!(RUNTIME_ERROR, "Field `{}` has no setter", self.name());
        }
        let is_function = kTVMFFIFieldFlagBitSetterIsFunctionObj as i64;
        if self.info.flags & is_function != 0 {
            // SAFETY: by the flag, the setter is a function object, which the type table never
            // frees.
            let function = unsafe { function_of(setter) };
            // SAFETY: setters take the address of the field, which the object has.
            let address = unsafe { OpaquePtr::new(address) };
            return function.call_packed(&[AnyView::from(&address), value.view()]).map(drop);
        }
        // SAFETY: without the flag the setter is a function of this type (ABI).
        let setter = unsafe { core::mem::transmute::<*mut c_void, FieldSetter>(setter) };
        // SAFETY: the code that registered the field guarantees a setter that fits this offset;
        // object and value are alive.
        checked(|| unsafe { setter(address, value.as_raw()) })
    }

    /// Returns `true` if the field has a default.
    pub fn has_default(self) -> bool {
        self.info.flags & i64::from(kTVMFFIFieldFlagBitMaskHasDefault) != 0
    }

    /// Writes the default value, or the result of the default factory, on the conditions of
    /// [`Field::set`].
    ///
    /// # Errors
    /// Errors of the factory; errors of [`Field::set`].
    ///
    /// # Upstream
    /// `SetFieldToDefault` in `reflection/accessor.h`.
    pub(crate) fn set_default(self, object: &Any) -> Result<()> {
        // SAFETY: the type table never frees the defaults of fields.
        let default = unsafe { AnyView::from_raw(self.info.default_value_or_factory) };
        if self.info.flags & i64::from(kTVMFFIFieldFlagBitMaskDefaultFromFactory) != 0 {
            return self.set(object, &default.get::<Function>()?.call_packed(&[])?);
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

/// Returns an owned reference to a setter that is a function object.
///
/// # Safety
/// `setter` must be a live function object.
unsafe fn function_of(setter: *mut c_void) -> Function {
    // SAFETY: the caller guarantees a live object, so the pointer is not null.
    unsafe {
        let object = core::ptr::NonNull::new_unchecked(setter.cast());
        Function::from_object_unchecked(ObjectRef::borrow_raw(object))
    }
}

/// Returns an error unless the caller has the only reference, strong or weak, to a new object whose
/// fields it will set. A hook may return an object that others read at the same time.
///
/// # Errors
/// RuntimeError for an object with other references. It names the class and the hook that made the
/// object.
pub(crate) fn ensure_unshared(object: &ObjectRef, hook: &str) -> Result<()> {
    if object.is_unique() { Ok(()) } else { Err(shared(object, hook)) }
}

#[cold]
fn shared(object: &ObjectRef, hook: &str) -> Error {
    let key = Lossy(type_table::type_key_of(object.type_index()));
    plain_error!(
        RUNTIME_ERROR,
        "{} of `{}` returned an object that has other references, so that its fields cannot be set",
        hook,
        key;
        "{} of `{}` made no new object",
        hook,
        key
    )
}

/// Iterator over the fields of a type: inherited fields first, from the root down, in registration
/// order within each type.
///
/// Does not allocate. Fields registered during the iteration may or may not be included.
///
/// # Upstream
/// `ForEachFieldInfo` in `reflection/accessor.h`.
#[derive(Clone, Default)]
pub struct Fields {
    /// Ancestors whose fields have not been visited.
    ancestors: slice::Iter<'static, *const TVMFFITypeInfo>,
    /// Remaining fields of the current type.
    fields: slice::Iter<'static, TVMFFIFieldInfo>,
    /// The type itself, visited last; `None` once its fields are being visited.
    last: Option<&'static TypeEntry>,
}

impl Fields {
    /// Creates an iterator over the fields of a registered type.
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
    /// Advances to the next type. Returns `None` at the end.
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

/// Calls `visit` with each of the [`Fields`] of a type.
///
/// # Errors
/// The first error of `visit`, which ends the iteration; InternalError for an unregistered type.
pub fn for_each_field(type_index: i32, visit: impl FnMut(Field) -> Result<()>) -> Result<()> {
    let Some(entry) = type_table::type_info(type_index) else {
        plain_bail!(INTERNAL_ERROR, "There is no type with index {}", type_index);
    };
    Fields::of(entry).try_for_each(visit)
}

fn index_of(ancestor: *const TVMFFITypeInfo) -> i32 {
    // SAFETY: ancestors are records of registered types, whose index never changes.
    if ancestor.is_null() { type_index::OBJECT } else { unsafe { (*ancestor).type_index } }
}
