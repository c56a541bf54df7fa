//! Iterators of Array and List. As with upstream's generators, the length is read at the first
//! item.

use super::records::{classes, element, sequence};
use crate::python::{Locked, Owned, new_iterator_type, new_ref, visit_all};
use core::ffi::{c_int, c_void};
use core::ptr::null_mut;
use pyo3_ffi::*;

/// The iterator.
#[repr(C)]
struct Iterator {
    base: PyObject,
    /// The sequence; null after the last item.
    sequence: *mut PyObject,
    /// The index of the next item.
    index: i64,
    /// The number of items; negative before the first.
    length: i64,
}

static TYPE: Locked<*mut PyTypeObject> = Locked::new();

/// Makes the type. Returns `false` with a Python error.
///
/// # Safety
/// The lock must be held; called once, before `new`.
pub unsafe fn start() -> bool {
    // SAFETY: the functions are those of this type.
    unsafe {
        let (name, size) = (c"ferrite_python.SequenceIterator", size_of::<Iterator>());
        let class = new_iterator_type(name, size, next, traverse, deallocate);
        TYPE.set(class);
        !class.is_null()
    }
}

/// Makes an iterator. Returns null with a Python error.
///
/// # Safety
/// The lock must be held, `start` must have succeeded, and `sequence` must be alive.
pub unsafe fn new(sequence: *mut PyObject) -> *mut PyObject {
    // SAFETY: the memory has the size of an iterator.
    unsafe {
        let class = *TYPE.get();
        let Some(allocate) = (*class).tp_alloc else { return null_mut() };
        let object = allocate(class, 0);
        if !object.is_null() {
            let iterator: *mut Iterator = object.cast();
            (*iterator).sequence = new_ref(sequence);
            (*iterator).length = -1;
        }
        object
    }
}

/// Slot `tp_iternext`.
unsafe extern "C" fn next(object: *mut PyObject) -> *mut PyObject {
    let iterator: *mut Iterator = object.cast();
    // SAFETY: the iterator owns the sequence.
    unsafe {
        let owner = (*iterator).sequence;
        if owner.is_null() {
            return null_mut();
        }
        let cell = sequence(owner);
        if (*iterator).length < 0 {
            (*iterator).length = cell.map_or(0, |cell| (*cell).size);
        }
        let index = (*iterator).index;
        if index >= (*iterator).length {
            (*iterator).sequence = null_mut();
            Py_DECREF(owner);
            return null_mut();
        }
        (*iterator).index += 1;
        match cell {
            Some(cell) if index < (*cell).size => element(cell, index as usize),
            _ => by_upstream(owner, index),
        }
    }
}

/// Gets an item by upstream's function, which raises the error if a list has shrunk.
#[cold]
unsafe fn by_upstream(owner: *mut PyObject, index: i64) -> *mut PyObject {
    // SAFETY: the objects are alive. Another thread may end the iterator meanwhile, which releases
    // the sequence.
    unsafe {
        let owner = Owned::borrowed(owner);
        let Some(number) = Owned::from_new(PyLong_FromLongLong(index)) else { return null_mut() };
        PyObject_CallFunctionObjArgs(
            classes().list_item,
            owner.as_ptr(),
            number.as_ptr(),
            null_mut::<PyObject>(),
        )
    }
}

unsafe extern "C" fn traverse(
    object: *mut PyObject,
    visit: visitproc,
    argument: *mut c_void,
) -> c_int {
    // SAFETY: the collector passes an iterator.
    unsafe { visit_all(object, &[(*object.cast::<Iterator>()).sequence], visit, argument) }
}

unsafe extern "C" fn deallocate(object: *mut PyObject) {
    // SAFETY: nobody else has a reference to the iterator.
    unsafe {
        let class = Py_TYPE(object);
        PyObject_GC_UnTrack(object.cast());
        Py_XDECREF((*object.cast::<Iterator>()).sequence);
        PyObject_GC_Del(object.cast());
        Py_DECREF(class.cast());
    }
}
