//! Array and List: items, slices, iteration, containment.

use super::iterator;
use super::records::{element, sequence};
use crate::call;
use crate::methods::Method;
use core::ptr::null_mut;
use pyo3_ffi::*;

/// Sets the slots of a sequence class, whose attributes are set already.
///
/// # Safety
/// The lock must be held, and `class` must be Array or List, which are heap types.
pub unsafe fn set_slots(class: *mut PyTypeObject) {
    // SAFETY: a class with these methods has the tables.
    unsafe {
        (*(*class).tp_as_mapping).mp_subscript = Some(subscript);
        (*(*class).tp_as_mapping).mp_length = Some(slot_length);
        (*(*class).tp_as_sequence).sq_length = Some(slot_length);
        (*class).tp_iter = Some(slot_iterate);
    }
}

/// `sequence[key]`, for integers in range, and slices. `None` for others, whose errors are
/// upstream's.
///
/// # Safety
/// The extension must be active, the lock held, and both objects alive.
#[inline(always)]
unsafe fn get(object: *mut PyObject, key: *mut PyObject) -> Option<*mut PyObject> {
    // SAFETY: an index in range is an element.
    unsafe {
        let cell = sequence(object)?;
        let size = (*cell).size as isize;
        if Py_TYPE(key) == &raw mut PySlice_Type {
            return if has_plain_bounds(key) { slice(object, key, size) } else { None };
        }
        if Py_TYPE(key) != &raw mut PyLong_Type {
            return None;
        }
        let mut index = PyLong_AsSsize_t(key);
        if index < 0 {
            if index == -1 && !PyErr_Occurred().is_null() {
                PyErr_Clear();
                return None;
            }
            index += size;
        }
        if index < 0 || index >= size {
            return None;
        }
        Some(element(cell, index as usize))
    }
}

/// Returns whether the bounds of a slice are integers or None. The `__index__` of another object
/// would run again in upstream's function if it fails.
unsafe fn has_plain_bounds(key: *mut PyObject) -> bool {
    let key: *mut PySliceObject = key.cast();
    // SAFETY: a slice has three objects.
    unsafe {
        [(*key).start, (*key).stop, (*key).step]
            .into_iter()
            .all(|bound| bound == Py_None() || Py_TYPE(bound) == &raw mut PyLong_Type)
    }
}

/// A slice, as a list. `None` if its step is zero, or if the sequence shrinks meanwhile.
unsafe fn slice(object: *mut PyObject, key: *mut PyObject, size: isize) -> Option<*mut PyObject> {
    let (mut start, mut stop, mut step) = (0, 0, 0);
    // SAFETY: elements are read by their index in bounds, since converting one may run Python code.
    unsafe {
        if PySlice_Unpack(key, &mut start, &mut stop, &mut step) != 0 {
            PyErr_Clear();
            return None;
        }
        let count = PySlice_AdjustIndices(size, &mut start, &mut stop, step);
        let list = PyList_New(count);
        if list.is_null() {
            return Some(list);
        }
        for position in 0..count {
            let index = start + position * step;
            let cell = sequence(object).filter(|cell| index < (**cell).size as isize);
            let item = cell.map(|cell| element(cell, index as usize));
            match item {
                Some(item) if !item.is_null() => {
                    PyList_SetItem(list, position, item);
                }
                _ => {
                    Py_DECREF(list);
                    return item;
                }
            }
        }
        Some(list)
    }
}

/// Slot `mp_subscript`.
unsafe extern "C" fn subscript(object: *mut PyObject, key: *mut PyObject) -> *mut PyObject {
    // SAFETY: CPython passes objects that are alive; the attribute is the descriptor, or whatever a
    // program has put in its place.
    unsafe {
        match get(object, key) {
            Some(item) => item,
            None => by_attribute(object, c"__getitem__".as_ptr(), key),
        }
    }
}

/// Calls the class's attribute, as the slot of a Python class does.
#[cold]
unsafe fn by_attribute(
    object: *mut PyObject,
    name: *const core::ffi::c_char,
    key: *mut PyObject,
) -> *mut PyObject {
    // SAFETY: the objects are alive.
    unsafe {
        let method = PyObject_GetAttrString(Py_TYPE(object).cast(), name);
        if method.is_null() {
            return method;
        }
        let result = PyObject_CallFunctionObjArgs(method, object, key, null_mut::<PyObject>());
        Py_DECREF(method);
        result
    }
}

/// Slots `mp_length` and `sq_length`.
unsafe extern "C" fn slot_length(object: *mut PyObject) -> Py_ssize_t {
    // SAFETY: as for `subscript`.
    unsafe {
        if let Some(cell) = sequence(object) {
            return (*cell).size as Py_ssize_t;
        }
        let found = by_attribute(object, c"__len__".as_ptr(), null_mut());
        if found.is_null() {
            return -1;
        }
        let length = PyNumber_AsSsize_t(found, PyExc_OverflowError);
        Py_DECREF(found);
        length
    }
}

/// Slot `tp_iter`.
unsafe extern "C" fn slot_iterate(object: *mut PyObject) -> *mut PyObject {
    // SAFETY: as for `subscript`.
    unsafe {
        match sequence(object) {
            Some(_) => iterator::new(object),
            None => by_attribute(object, c"__iter__".as_ptr(), null_mut()),
        }
    }
}

/// `__getitem__`.
///
/// # Safety
/// Same requirements as `methods::Fast`.
pub unsafe fn item(
    _: *mut Method,
    items: *const *mut PyObject,
    count: usize,
) -> Option<*mut PyObject> {
    // SAFETY: there are two items.
    if count == 2 { unsafe { get(*items, *items.add(1)) } } else { None }
}

/// `__iter__`.
///
/// # Safety
/// Same requirements as `methods::Fast`.
pub unsafe fn iterate(
    _: *mut Method,
    items: *const *mut PyObject,
    count: usize,
) -> Option<*mut PyObject> {
    if count != 1 {
        return None;
    }
    // SAFETY: there is an item.
    unsafe { sequence(*items).map(|_| iterator::new(*items)) }
}

/// `__contains__`, for numbers, strings and bytes; `extra` is the library's function.
///
/// Upstream compares other sequences with the elements if the library finds none.
///
/// # Safety
/// Same requirements as `methods::Fast`.
pub unsafe fn contains(
    method: *mut Method,
    items: *const *mut PyObject,
    count: usize,
) -> Option<*mut PyObject> {
    // SAFETY: there are two items.
    unsafe {
        if count != 2 || !is_scalar(*items.add(1)) {
            return None;
        }
        sequence(*items)?;
        found_by(call::invoke((*method).extra, items, 2)?)
    }
}

/// Passes a result on; `None` for an error, which the original raises again, with its frames.
///
/// # Safety
/// `result` must be a new reference, or null with a Python error set; the lock must be held.
pub unsafe fn found_by(result: *mut PyObject) -> Option<*mut PyObject> {
    if result.is_null() {
        // SAFETY: the lock is held.
        unsafe { PyErr_Clear() };
        return None;
    }
    Some(result)
}

/// Returns whether a value is None, a number, a string or bytes.
unsafe fn is_scalar(value: *mut PyObject) -> bool {
    // SAFETY: the object is alive.
    unsafe {
        let class = Py_TYPE(value);
        class == &raw mut PyLong_Type
            || class == &raw mut PyUnicode_Type
            || class == &raw mut PyFloat_Type
            || class == &raw mut PyBool_Type
            || class == &raw mut PyBytes_Type
            || value == Py_None()
    }
}
