//! The fast paths of methods, by the names under which `ferrite_tvm_ffi_fast.py` asks for them.

use crate::containers::{maps, sequences, size};
use crate::methods::{self, Fast, Method};
use crate::{call, constructors};
use core::ffi::{CStr, c_char};
use core::ptr::null_mut;
use pyo3_ffi::*;

/// The fast paths.
const PATHS: [(&CStr, Fast); 10] = [
    (c"length", size::length),
    (c"truth", size::truth),
    (c"sequence item", sequences::item),
    (c"sequence iterator", sequences::iterate),
    (c"contains", sequences::contains),
    (c"map item", maps::item),
    (c"map contains", maps::contains),
    (c"map get", maps::get),
    (c"function", function),
    (c"constructor", constructors::construct),
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
    // SAFETY: `extra` is a `Function`; the items are the object and the arguments.
    if count == 0 { None } else { unsafe { call::invoke((*method).extra, items, count) } }
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
            Some((_, fast)) => methods::new(*fast, original, extra, class),
            None => {
                PyErr_SetString(PyExc_ValueError, path);
                null_mut()
            }
        }
    }
}
