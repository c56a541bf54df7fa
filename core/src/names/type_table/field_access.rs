//! Getters and setters of the fields of built-in types.

use core::ffi::{c_int, c_void};
use core::ptr::NonNull;

use crate::abi::type_index::ARRAY;
use crate::abi::{TVMFFIAny, TVMFFIObject};
use crate::error::{Result, raised_error};
use crate::names::type_table;
use crate::object::{ObjectRef, refcount, release};
use crate::plain_bail;
use crate::value::any::{Any, AnyView};

/// Field getter for fields with an object reference or null. Returns 0.
///
/// # Safety
/// `field` must be the address of a reference in a live object, and `result` must be valid for a
/// write.
pub(super) unsafe extern "C" fn get_object(field: *mut c_void, result: *mut TVMFFIAny) -> c_int {
    // SAFETY: the caller guarantees the field.
    let object = unsafe { field.cast::<*mut TVMFFIObject>().read() };
    let value = match NonNull::new(object) {
        // SAFETY: the field's owner keeps the object alive.
        Some(object) => Any::from(unsafe { ObjectRef::borrow_raw(object) }),
        None => Any::NONE,
    };
    // SAFETY: the caller guarantees the result, which owns the value from here.
    unsafe { result.write(value.into_raw()) };
    0
}

/// Field setter for fields of type Array. Returns 0, or -1 with a TypeError raised for other
/// values.
///
/// # Safety
/// `field` must be the address of an owned reference in a live object, and `value` must be a valid
/// value.
pub(super) unsafe extern "C" fn set_array(field: *mut c_void, value: *const TVMFFIAny) -> c_int {
    // SAFETY: the caller guarantees the value.
    match array_of(unsafe { AnyView::from_raw(value.read()) }) {
        Ok(array) => {
            // SAFETY: the array is borrowed and alive; the field owns one reference, which the new
            // one replaces.
            unsafe {
                refcount::retain(array.as_ptr());
                let previous = field.cast::<*mut TVMFFIObject>().replace(array.as_ptr());
                if !previous.is_null() {
                    release::release_object(previous);
                }
            }
            0
        }
        Err(error) => {
            raised_error::set(error);
            -1
        }
    }
}

fn array_of(value: AnyView<'_>) -> Result<NonNull<TVMFFIObject>> {
    match value.object_ptr() {
        Some(object) if value.type_index() == ARRAY => Ok(object),
        _ => plain_bail!(
            TYPE_ERROR,
            "Cannot convert from type `{}` to `Array<Any>`",
            type_table::type_key_of(value.type_index())
        ),
    }
}
