//! Getters and setters of fields, and the creation of objects, as the type table stores them.

use core::ffi::{c_int, c_void};
use core::ptr::{self, NonNull};

use crate::abi::{TVMFFIAny, TVMFFIObject, TVMFFIObjectCreator, TVMFFIObjectHandle};
use crate::call::function::checked;
use crate::error::{Result, raised_error};
use crate::object::borrow::{claim, share, unclaim, unshare};
use crate::object::{ObjectClass, ObjectRef};
use crate::plain_error;
use crate::platform::unwind;
use crate::value::any::AnyView;
use crate::value::convert::{FromAny, IntoAny};

use super::{Object, ObjectArc};

/// A borrow of an object for the duration of an access. Ends when it is dropped, also if the access
/// panics.
struct Access {
    object: *mut TVMFFIObject,
    end: unsafe fn(*mut TVMFFIObject),
}

impl Access {
    /// Borrows an object for reading.
    ///
    /// # Errors
    /// RuntimeError if the object is borrowed exclusively.
    ///
    /// # Safety
    /// `object` must be live until the borrow is dropped.
    unsafe fn shared(object: *mut TVMFFIObject) -> Result<Access> {
        // SAFETY: the caller guarantees the object.
        unsafe { share(object)? };
        Ok(Access { object, end: unshare })
    }

    /// Borrows an object for writing.
    ///
    /// # Errors
    /// RuntimeError if the object is borrowed.
    ///
    /// # Safety
    /// `object` must be live until the borrow is dropped.
    unsafe fn exclusive(object: *mut TVMFFIObject) -> Result<Access> {
        // SAFETY: the caller guarantees the object.
        unsafe { claim(object)? };
        Ok(Access { object, end: unclaim })
    }
}

impl Drop for Access {
    fn drop(&mut self) {
        // SAFETY: the creator of the borrow guarantees the object.
        unsafe { (self.end)(self.object) };
    }
}

/// Field getter: copies a field of type `T` at `OFFSET` of its object. Returns 0, or -1 with
/// RuntimeError raised if the object is borrowed exclusively.
///
/// # Safety
/// `field` must be the address of such a field in a live object, and `result` valid for writing.
pub(super) unsafe extern "C" fn field_getter<T: IntoAny + Clone, const OFFSET: usize>(
    field: *mut c_void,
    result: *mut TVMFFIAny,
) -> c_int {
    status(|| {
        // SAFETY: the caller guarantees the field and its object; the borrow excludes writers.
        let value = unsafe {
            let _borrow = Access::shared(object_of::<OFFSET>(field))?;
            (*field.cast::<T>()).clone()
        };
        // SAFETY: the caller guarantees the result cell, which owns the value from here.
        unsafe { result.write(value.try_into_any()?.into_raw()) };
        Ok(())
    })
}

/// Field setter: converts a value to `T` and stores it in a field at `OFFSET` of its object.
/// Returns 0, or -1 with an error raised: TypeError for a value of another type, RuntimeError if
/// the object is borrowed.
///
/// # Safety
/// `field` must be the address of such a field in a live object, and `value` a valid value.
pub(super) unsafe extern "C" fn field_setter<T: FromAny, const OFFSET: usize>(
    field: *mut c_void,
    value: *const TVMFFIAny,
) -> c_int {
    status(|| {
        // SAFETY: the caller guarantees the value.
        let value = unsafe { AnyView::from_raw(value.read()) }.get::<T>()?;
        // SAFETY: the caller guarantees the field and its object; the borrow excludes all other
        // accesses.
        let old = unsafe {
            let _borrow = Access::exclusive(object_of::<OFFSET>(field))?;
            field.cast::<T>().replace(value)
        };
        // Dropped after the borrow: this may run a user callback.
        drop(old);
        Ok(())
    })
}

fn object_of<const OFFSET: usize>(field: *mut c_void) -> *mut TVMFFIObject {
    field.wrapping_byte_sub(OFFSET).cast()
}

/// The `creator` in the metadata of a type: creates an object with initial values. Returns 0, or
/// -1 with an error raised.
///
/// # Safety
/// `result` must be valid for writing.
pub unsafe extern "C" fn create<T: Object>(result: *mut TVMFFIObjectHandle) -> c_int {
    status(|| {
        let object = ObjectArc::new(T::empty(0)?)?;
        // SAFETY: the caller guarantees the result, which owns the object from here.
        unsafe { result.write(object.into_object().into_raw().as_ptr().cast::<c_void>()) };
        Ok(())
    })
}

/// Calls a creator and returns the object.
///
/// # Errors
/// The error that the creator raised; RuntimeError if it made no object.
pub(super) fn call_creator(creator: TVMFFIObjectCreator) -> Result<ObjectRef> {
    let mut handle = ptr::null_mut();
    // SAFETY: creators accept any valid address.
    checked(|| unsafe { creator(&mut handle) })?;
    match NonNull::new(handle.cast()) {
        // SAFETY: creators leave an owned object there.
        Some(object) => Ok(unsafe { ObjectRef::from_raw(object) }),
        None => Err(plain_error!(RUNTIME_ERROR, "A creator made no object"; "no object")),
    }
}

/// Runs `body`. Returns 0, or -1 with its error raised. A panic is an error.
fn status(body: impl FnOnce() -> Result<()>) -> c_int {
    match unwind::catch(body) {
        Ok(()) => 0,
        Err(error) => {
            raised_error::set(error);
            -1
        }
    }
}
