//! Containers: Array, List, Map and Dict, read in place.
//!
//! The layouts are the ABI's, which C++ clients read in the same way. Subclasses, and containers
//! that convert their tensors for a framework, are left to upstream's methods.

mod iterator;
pub mod map_iterator;
pub mod maps;
pub mod sequences;
pub mod size;

use crate::python::{Locked, new_ref, word};
use crate::results;
use crate::state::{EXCHANGE_API, HANDLE};
use core::ffi::c_void;
use core::ptr::null_mut;
use ferrite_core::abi::TVMFFISeqCell;
use pyo3_ffi::*;

/// Offset of a container's content behind the header of its object.
const CONTENT: usize = 24;

/// The classes of sequences and maps, and upstream's function for items of lists. Owned.
pub struct Classes {
    /// `Array`.
    pub array: *mut PyTypeObject,
    /// `List`.
    pub list: *mut PyTypeObject,
    /// `Map`.
    pub map: *mut PyTypeObject,
    /// `Dict`.
    pub dict: *mut PyTypeObject,
    /// `_ffi_api.ListGetItem`, which raises the error of an index.
    pub list_item: *mut PyObject,
    /// `core.MISSING`.
    pub missing: *mut PyObject,
}

static CLASSES: Locked<Classes> = Locked::new();

/// Returns the classes.
///
/// # Safety
/// `start` must have been called.
unsafe fn classes() -> &'static Classes {
    // SAFETY: `start` came first; the classes do not change afterwards.
    unsafe { &*CLASSES.get() }
}

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
        CLASSES.set(Classes {
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

/// Returns the content of a container that can be read in place.
///
/// # Safety
/// `object` must be a live instance of a container class, and the state must be set.
#[inline(always)]
unsafe fn content(object: *mut PyObject) -> Option<*mut c_void> {
    // SAFETY: the layout of containers was probed.
    unsafe {
        let handle: *mut c_void = word(object, HANDLE);
        let converts = !word::<*mut c_void>(object, EXCHANGE_API).is_null();
        if handle.is_null() || converts {
            None
        } else {
            Some(handle.cast::<u8>().add(CONTENT).cast())
        }
    }
}

/// Returns the record of an Array or List that can be read in place.
///
/// # Safety
/// `object` must be alive, and `start` must have been called.
#[inline(always)]
unsafe fn sequence(object: *mut PyObject) -> Option<*mut TVMFFISeqCell> {
    // SAFETY: instances of these classes are sequences.
    unsafe {
        let class = Py_TYPE(object);
        if class != classes().array && class != classes().list {
            return None;
        }
        content(object).map(<*mut c_void>::cast)
    }
}

/// Returns an element of a sequence.
///
/// # Safety
/// The extension must be active, the lock held, and `cell` must be the record of a live sequence;
/// `index` must be below its size.
#[inline(always)]
unsafe fn element(cell: *mut TVMFFISeqCell, index: usize) -> *mut PyObject {
    // SAFETY: as the caller guarantees; the element is retained before Python code runs.
    unsafe {
        results::from_borrowed(
            (*cell).data.cast::<ferrite_core::abi::TVMFFIAny>().add(index).read(),
        )
    }
}
