//! The Python classes that are registered for types, by type index.

use crate::python::{Locked, Owned, attribute};
use crate::state;
use core::ptr::null_mut;
use pyo3_ffi::*;

/// The most type indices whose class is remembered.
const LIMIT: usize = 1 << 16;

/// The wrapper class of each type index, retained; null if unknown, or if upstream's conversion
/// makes the object.
static CLASSES: Locked<Vec<*mut PyTypeObject>> = Locked::new();

/// Begins with no classes.
///
/// # Safety
/// The lock must be held; called once, before the other functions.
pub unsafe fn start() {
    // SAFETY: as the caller guarantees.
    unsafe { CLASSES.set(Vec::new()) };
}

/// Forgets all classes, since a registration changed.
///
/// # Safety
/// The lock must be held, and `start` must have been called.
pub unsafe fn forget() {
    // SAFETY: the list is replaced before Python code can run.
    unsafe {
        for class in core::mem::take(&mut *CLASSES.get()) {
            Py_XDECREF(class.cast());
        }
    }
}

/// Returns the wrapper class of a type; `None` if upstream's conversion has to make the object.
///
/// # Safety
/// The extension must be active, and the lock held.
#[inline(always)]
pub unsafe fn of(index: i32) -> Option<*mut PyTypeObject> {
    // SAFETY: the reference ends here.
    let found = unsafe { (&*CLASSES.get()).get(index as usize).copied() };
    match found {
        Some(class) if !class.is_null() => Some(class),
        // SAFETY: as the caller guarantees.
        _ => unsafe { look_up(index) },
    }
}

/// Returns whether a class is the one that is registered for a type.
///
/// # Safety
/// Same requirements as `of`.
pub unsafe fn is_registered(index: i32, class: *mut PyTypeObject) -> bool {
    // SAFETY: the reference ends here.
    let found = unsafe { (&*CLASSES.get()).get(index as usize).copied() };
    if found == Some(class) {
        return true;
    }
    // SAFETY: as the caller guarantees.
    unsafe {
        let Some(registered) = registered(index) else { return false };
        if registered.as_ptr() != class.cast() {
            return false;
        }
        remember(index, registered);
    }
    true
}

/// Looks up a class in upstream's registry, and remembers it.
///
/// # Safety
/// Same requirements as `of`.
#[cold]
unsafe fn look_up(index: i32) -> Option<*mut PyTypeObject> {
    // SAFETY: the registry owns the class, and so does the list.
    unsafe {
        let state = state::get();
        let class = registered(index)?;
        let pointer: *mut PyTypeObject = class.as_ptr().cast();
        let is = |base| PyType_IsSubtype(pointer, base) != 0;
        let is_wrapper = is(state.object_base) && !is(state.native_base) && !is(state.tensor);
        (is_wrapper && remember(index, class)).then_some(pointer)
    }
}

/// Remembers a class. Returns whether it did.
///
/// # Safety
/// The lock must be held, `start` must have been called, and `class` must be a type.
unsafe fn remember(index: i32, class: Owned) -> bool {
    let index = index as usize;
    if index >= LIMIT {
        return false;
    }
    // SAFETY: the reference to the list ends before a class is released.
    let former = unsafe {
        let classes = &mut *CLASSES.get();
        if classes.len() <= index {
            classes.resize(index + 1, null_mut());
        }
        let Some(place) = classes.get_mut(index) else { return false };
        core::mem::replace(place, class.into_raw().cast())
    };
    // SAFETY: the list owned it.
    unsafe { Py_XDECREF(former.cast()) };
    true
}

/// Returns the class that upstream's registry has for a type.
///
/// # Safety
/// Same requirements as `of`.
unsafe fn registered(index: i32) -> Option<Owned> {
    // SAFETY: as the caller guarantees.
    unsafe {
        let state = state::get();
        let (function, argument) = if state.info_by_index.is_null() {
            (state.info_by_key, key(index)?)
        } else {
            (state.info_by_index, Owned::from_new(PyLong_FromLong(index.into()))?)
        };
        let found =
            PyObject_CallFunctionObjArgs(function, argument.as_ptr(), null_mut::<PyObject>());
        let Some(info) = Owned::from_new(found) else {
            PyErr_Clear();
            return None;
        };
        attribute(info.as_ptr(), c"type_cls").filter(|class| PyType_Check(class.as_ptr()) != 0)
    }
}

/// Returns the key of a type, by which upstream's registry knows it.
///
/// # Safety
/// Same requirements as `of`.
unsafe fn key(index: i32) -> Option<Owned> {
    // SAFETY: a type's record lives as long as the process.
    unsafe {
        let record = (state::get().library.type_info)(index).as_ref()?;
        let (data, size) = (record.type_key.data, record.type_key.size);
        Owned::from_new(PyUnicode_DecodeUTF8(data, size as Py_ssize_t, core::ptr::null()))
    }
}
