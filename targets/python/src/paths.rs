//! The fast paths of methods, by the names under which `ferrite_tvm_ffi_fast.py` asks for them.

use crate::constructors::{construct, construct_by_name};
use crate::containers::{map_iterator, maps, sequences, size};
use crate::methods::{self, Fast, FastByName, Method};
use crate::{call, errors};
use core::ffi::{CStr, c_char};
use core::ptr::null_mut;
use pyo3_ffi::*;

/// The function of a path, and the one of calls with keywords, if it takes them.
type Path = (Fast, Option<FastByName>);

/// The fast paths.
const PATHS: [(&CStr, Path); 17] = [
    (c"length", (size::length, None)),
    (c"truth", (size::truth, None)),
    (c"sequence item", (sequences::item, None)),
    (c"sequence iterator", (sequences::iterate, None)),
    (c"contains", (sequences::contains, None)),
    (c"map item", (maps::item, None)),
    (c"map contains", (maps::contains, None)),
    (c"map get", (maps::get, None)),
    (c"map iterator", (map_iterator::of_map, None)),
    (c"keys iterator", (map_iterator::of_keys, None)),
    (c"values iterator", (map_iterator::of_values, None)),
    (c"items iterator", (map_iterator::of_items, None)),
    (c"function", (function, None)),
    (c"native constructor", (construct::<false>, None)),
    (c"native constructor by name", (construct::<false>, Some(construct_by_name::<false>))),
    (c"Python constructor", (construct::<true>, None)),
    (c"Python constructor by name", (construct::<true>, Some(construct_by_name::<true>))),
];

/// A method of a class that is declared natively: calls `extra`, a `Function`, with the object
/// first.
///
/// # Safety
/// Same requirements as `methods::Fast`.
unsafe fn function(
    method: *mut Method,
    items: *const *mut PyObject,
    count: usize,
) -> Option<*mut PyObject> {
    if count == 0 {
        return None;
    }
    // SAFETY: `extra` is a `Function`; the items are the object and the arguments.
    unsafe {
        let result = call::invoke((*method).extra, items, count)?;
        if result.is_null() {
            errors::add(errors::Frame::Method);
        }
        Some(result)
    }
}

/// The Python function `method(path, original, extra, class=None)`: a descriptor with a fast path
/// over a function.
///
/// # Safety
/// CPython must call it, with the interpreter's lock.
pub unsafe extern "C" fn method(_: *mut PyObject, arguments: *mut PyObject) -> *mut PyObject {
    let mut path: *const c_char = core::ptr::null();
    let mut objects: [*mut PyObject; 3] = [null_mut(); 3];
    let [original, extra, class] = &mut objects;
    // SAFETY: the format has these types.
    unsafe {
        let format = c"sOO|O!".as_ptr();
        let of_classes = &raw mut PyType_Type;
        if PyArg_ParseTuple(arguments, format, &mut path, original, extra, of_classes, class) == 0 {
            return null_mut();
        }
        let [original, extra, class] = objects;
        match PATHS.iter().find(|(known, _)| *known == CStr::from_ptr(path)) {
            Some((_, path)) => methods::new(*path, original, extra, class),
            None => {
                PyErr_SetString(PyExc_ValueError, path);
                null_mut()
            }
        }
    }
}
