//! Containers: Array, List, Map and Dict, read in place.
//!
//! The layouts are the ABI's, which C++ clients read in the same way. Subclasses, and containers
//! that convert their tensors for a framework, are left to upstream's methods.

mod iterator;
pub mod map_iterator;
pub mod maps;
mod records;
pub mod sequences;
pub mod size;

use crate::python::new_ref;
use core::ptr::null_mut;
use pyo3_ffi::*;
use records::{Classes, classes};

/// The Python function `containers(Array, List, Map, Dict, ListGetItem, MISSING)`, which must come
/// first.
///
/// # Safety
/// CPython must call it, with the interpreter's lock.
pub unsafe extern "C" fn start(_: *mut PyObject, arguments: *mut PyObject) -> *mut PyObject {
    let mut found: [*mut PyObject; 6] = [null_mut(); 6];
    let [array, list, map, dict, list_item, missing] = &mut found;
    // SAFETY: the format has six objects, which are kept for ever.
    unsafe {
        let format = c"OOOOOO".as_ptr();
        if PyArg_ParseTuple(arguments, format, array, list, map, dict, list_item, missing) == 0 {
            return null_mut();
        }
        for object in found {
            Py_INCREF(object);
        }
        let [array, list, map, dict, list_item, missing] = found;
        records::set_classes(Classes {
            array: array.cast(),
            list: list.cast(),
            map: map.cast(),
            dict: dict.cast(),
            list_item,
            missing,
        });
        if !iterator::start() || !map_iterator::start() {
            return null_mut();
        }
        new_ref(Py_None())
    }
}

/// The Python function `sequence_slots(class)`: sets the slots of Array or List, after its
/// attributes.
///
/// # Safety
/// CPython must call it, with the interpreter's lock.
pub unsafe extern "C" fn sequence_slots(_: *mut PyObject, class: *mut PyObject) -> *mut PyObject {
    // SAFETY: only the two classes that `start` got are changed.
    unsafe {
        let class: *mut PyTypeObject = class.cast();
        if class == classes().array || class == classes().list {
            sequences::set_slots(class);
            PyType_Modified(class);
        }
        new_ref(Py_None())
    }
}
