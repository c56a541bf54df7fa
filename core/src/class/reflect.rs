//! Access to the fields and methods of any object by name.

use core::ffi::c_void;

use crate::abi::{
    TVMFFIAny, TVMFFIFieldSetter, kTVMFFIFieldFlagBitMaskIsStaticMethod,
    kTVMFFIFieldFlagBitMaskWritable, kTVMFFIFieldFlagBitSetterIsFunctionObj, type_index,
};
use crate::call::function::{Function, checked};
use crate::error::Result;
use crate::names::type_table;
use crate::object::ObjectRef;
use crate::platform::memory::Buffer;
use crate::platform::text::Lossy;
use crate::value::any::{Any, AnyView};
use crate::{Error, plain_ensure, plain_error};

impl ObjectRef {
    /// Returns the value of a field, read by its registered getter.
    ///
    /// # Errors
    /// AttributeError if the class has no such field; RuntimeError if the object is borrowed
    /// exclusively; MemoryError.
    pub fn field(&self, name: &str) -> Result<Any> {
        let info = type_table::find_field(self.type_index(), name.as_bytes())
            .ok_or_else(|| self.has_no("field", name))?;
        let Some(getter) = info.getter else {
            return Err(self.has_no("getter for the field", name));
        };
        let mut result = TVMFFIAny::NONE;
        // SAFETY: registered getters accept the address of the field in an object of the class, and
        // leave an owned value.
        unsafe {
            checked(|| getter(self.address_of(info.offset), &mut result))?;
            Any::from_result(result)
        }
    }

    /// Sets a field that is writable in every language.
    ///
    /// # Errors
    /// AttributeError if the class has no such field, or if it is read-only; TypeError for a value
    /// of another type; RuntimeError if the object is borrowed.
    pub fn set_field(&self, name: &str, value: AnyView<'_>) -> Result<()> {
        let info = type_table::find_field(self.type_index(), name.as_bytes())
            .ok_or_else(|| self.has_no("field", name))?;
        let has = |flag: i32| info.flags & i64::from(flag) != 0;
        plain_ensure!(
            has(kTVMFFIFieldFlagBitMaskWritable) && !info.setter.is_null(),
            ATTRIBUTE_ERROR,
            "The field `{}` of class `{}` is read-only",
            name,
            self.class_key();
            "`{}` is read-only",
            name
        );
        let address = self.address_of(info.offset);
        if has(kTVMFFIFieldFlagBitSetterIsFunctionObj) {
            // The flag says that the setter is a function, which the record keeps alive.
            let setter = AnyView::pointer(type_index::FUNCTION, info.setter).get::<Function>()?;
            let address = AnyView::pointer(type_index::OPAQUE_PTR, address);
            return setter.call_packed(&[address, value]).map(drop);
        }
        // SAFETY: without the flag, the setter is a C function, which accepts the address of the
        // field.
        unsafe {
            let setter = core::mem::transmute::<*mut c_void, TVMFFIFieldSetter>(info.setter);
            checked(|| setter(address, value.as_raw()))
        }
    }

    /// Calls a method with the object and `args`, or a static method with `args` alone.
    ///
    /// # Errors
    /// AttributeError if the class has no such method; TypeError for arguments of other types; the
    /// error of the method.
    pub fn call_method(&self, name: &str, args: &[AnyView<'_>]) -> Result<Any> {
        let info = type_table::find_method(self.type_index(), name.as_bytes())
            .ok_or_else(|| self.has_no("method", name))?;
        // SAFETY: the record keeps the function alive.
        let method = unsafe { AnyView::from_raw(info.method) }.get::<Function>()?;
        if info.flags & i64::from(kTVMFFIFieldFlagBitMaskIsStaticMethod) != 0 {
            return method.call_packed(args);
        }
        let mut all = Buffer::try_with_capacity(args.len() + 1)?;
        all.try_push(self.view())?;
        args.iter().try_for_each(|arg| all.try_push(*arg))?;
        method.call_packed(&all)
    }

    fn address_of(&self, offset: i64) -> *mut c_void {
        self.as_ptr().wrapping_byte_offset(offset as isize).cast()
    }

    fn class_key(&self) -> Lossy<'static> {
        Lossy(type_table::type_key_of(self.type_index()))
    }

    #[cold]
    fn has_no(&self, what: &str, name: &str) -> Error {
        plain_error!(
            ATTRIBUTE_ERROR,
            "The class `{}` has no {} `{}`",
            self.class_key(),
            what,
            name;
            "no `{}`",
            name
        )
    }
}
