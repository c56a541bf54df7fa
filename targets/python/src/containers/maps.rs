//! Map and Dict: items and containment by one call of the library.

use super::records::{classes, content};
use super::sequences::found_by;
use crate::call;
use crate::methods::Method;
use crate::python::{new_ref, word};
use crate::state::{self, HANDLE};
use core::ffi::c_void;
use pyo3_ffi::*;

/// The first fields of a map's content.
#[repr(C)]
pub(super) struct MapCell {
    data: *mut c_void,
    pub(super) size: u64,
}

/// Returns the record of a Map or Dict that can be read in place.
///
/// # Safety
/// `object` must be alive, and `start` must have been called.
#[inline(always)]
pub(super) unsafe fn map(object: *mut PyObject) -> Option<*mut MapCell> {
    // SAFETY: instances of these classes are maps.
    unsafe {
        let class = Py_TYPE(object);
        if class != classes().map && class != classes().dict {
            return None;
        }
        content(object).map(<*mut c_void>::cast)
    }
}

/// `__getitem__`; `extra` is the library's function.
///
/// # Safety
/// Same requirements as `methods::Fast`.
pub unsafe fn item(
    method: *mut Method,
    items: *const *mut PyObject,
    count: usize,
) -> Option<*mut PyObject> {
    if count != 2 {
        return None;
    }
    // SAFETY: there are two items.
    unsafe {
        map(*items)?;
        found_by(call::invoke((*method).extra, items, 2)?)
    }
}

/// `__contains__`; `extra` is the library's function that counts a key.
///
/// # Safety
/// Same requirements as `methods::Fast`.
pub unsafe fn contains(
    method: *mut Method,
    items: *const *mut PyObject,
    count: usize,
) -> Option<*mut PyObject> {
    // SAFETY: `item` has checked the arguments.
    unsafe {
        let found = item(method, items, count)?;
        let truth = PyObject_IsTrue(found);
        Py_DECREF(found);
        Some(PyBool_FromLong(truth.into()))
    }
}

/// `get`, with or without a default; `extra` is the library's function, which returns `MISSING`.
///
/// # Safety
/// Same requirements as `methods::Fast`.
pub unsafe fn get(
    method: *mut Method,
    items: *const *mut PyObject,
    count: usize,
) -> Option<*mut PyObject> {
    if count != 2 && count != 3 {
        return None;
    }
    // SAFETY: there are as many items.
    unsafe {
        let found = item(method, items, 2)?;
        let is_object = PyType_IsSubtype(Py_TYPE(found), state::get().object_base) != 0;
        let is_missing =
            is_object && word::<usize>(found, HANDLE) == word::<usize>(classes().missing, HANDLE);
        if !is_missing {
            return Some(found);
        }
        Py_DECREF(found);
        Some(new_ref(if count == 3 { *items.add(2) } else { Py_None() }))
    }
}
