//! Constructors: the `__init__` that upstream makes for a class with fields.

use crate::arguments::{Arguments, Values};
use crate::call::NONE;
use crate::errors;
use crate::methods::Method;
use crate::python::{new_ref, word};
use crate::state::{self, HANDLE};
use core::ffi::c_void;
use core::ptr::null_mut;
use ferrite_core::abi::type_index;
use pyo3_ffi::*;

/// `__init__` with positional arguments. `extra` is the `__ffi_init__` of `class`.
///
/// Subclasses, keywords and objects that have a handle already are left to upstream's function. As
/// there, the interpreter's lock is kept.
///
/// # Safety
/// Same requirements as `methods::Fast`; `extra` must be a `Function`.
pub unsafe fn construct(
    method: *mut Method,
    items: *const *mut PyObject,
    count: usize,
) -> Option<*mut PyObject> {
    // SAFETY: the layout of wrappers was probed.
    unsafe {
        if count == 0 || Py_TYPE(*items) != (*method).class {
            return None;
        }
        let place = (*items).cast::<u8>().add(HANDLE).cast::<*mut c_void>();
        let constructor: *mut c_void = word((*method).extra, HANDLE);
        if !(*place).is_null() || constructor.is_null() {
            return None;
        }
        let mut values = Values::uninit();
        let mut arguments = Arguments::new(&mut values);
        if !arguments.push_all(items.add(1), count - 1) {
            return None;
        }
        let (library, mut result) = (&state::get().library, NONE);
        let status =
            (library.call)(constructor, arguments.as_ptr(), (count - 1) as i32, &mut result);
        if status != 0 {
            return Some(errors::raise_after(status, errors::Frame::None, arguments));
        }
        drop(arguments);
        if result.type_index < type_index::STATIC_OBJECT_BEGIN {
            PyErr_SetString(PyExc_TypeError, c"a constructor has returned no object".as_ptr());
            return Some(null_mut());
        }
        // The constructor may have run Python code that initialised the object.
        let former = place.replace(result.payload.v_ptr);
        if !former.is_null() {
            (library.dec_ref)(former);
        }
        Some(new_ref(Py_None()))
    }
}
