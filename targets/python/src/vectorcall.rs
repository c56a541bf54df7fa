//! Calls of `Function` without a tuple of arguments.
//!
//! CPython looks for the function of a vectorcall in the instance, and upstream's `Function` has no
//! place for it. So its instances get eight bytes more, before the first one is made: while the
//! module `tvm_ffi.core` is executed, after its types are ready. An instance whose place is empty
//! is called by `tp_call`, which fills it.

use crate::python::new_ref;
use crate::{call, state};
use core::ptr::null_mut;
use core::sync::atomic::{AtomicBool, Ordering};
use pyo3_ffi::*;

/// The size of instances as upstream makes them, and the offset of the new place.
pub const SIZE: isize = 40;
/// The size of instances with the place.
pub const ENLARGED: isize = SIZE + 8;
/// Offset of the instance's dict, the last field.
const DICT: isize = 32;

static IS_ENLARGED: AtomicBool = AtomicBool::new(false);

/// Returns whether instances have the place.
pub fn is_enlarged() -> bool {
    IS_ENLARGED.load(Ordering::Relaxed)
}

/// The Python function `enlarge(Function)`: returns None, or the reason why the class is left
/// alone.
///
/// The caller has made sure that there is no instance.
///
/// # Safety
/// CPython must call it, with the interpreter's lock.
pub unsafe extern "C" fn enlarge(_: *mut PyObject, class: *mut PyObject) -> *mut PyObject {
    // SAFETY: the argument is checked to be a class; nobody uses a class without instances.
    unsafe {
        let reason = if PyType_Check(class) == 0 {
            Some(c"Function is not a class")
        } else {
            refusal(class.cast())
        };
        if let Some(reason) = reason {
            return PyUnicode_FromString(reason.as_ptr());
        }
        let class: *mut PyTypeObject = class.cast();
        (*class).tp_basicsize = ENLARGED;
        (*class).tp_vectorcall_offset = SIZE;
        (*class).tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
        PyType_Modified(class);
        IS_ENLARGED.store(true, Ordering::Relaxed);
        new_ref(Py_None())
    }
}

/// Returns why a class cannot be enlarged.
unsafe fn refusal(class: *mut PyTypeObject) -> Option<&'static core::ffi::CStr> {
    // SAFETY: the class is alive.
    unsafe {
        if (*class).tp_flags & Py_TPFLAGS_HEAPTYPE != 0 {
            return Some(c"Function is no static type");
        }
        if (*class).tp_basicsize != SIZE
            || (*class).tp_dictoffset != DICT
            || (*class).tp_itemsize != 0
        {
            return Some(c"Function has another layout");
        }
        if (*class).tp_vectorcall_offset != 0 || (*class).tp_flags & Py_TPFLAGS_HAVE_VECTORCALL != 0
        {
            return Some(c"Function has a vectorcall of its own");
        }
    }
    None
}

/// Fills the place of an instance, so that its next call needs no tuple.
///
/// # Safety
/// `function` must be a live instance of `Function` itself, not of a subclass; the lock must be
/// held.
#[inline(always)]
pub unsafe fn fill(function: *mut PyObject) {
    if is_enlarged() {
        // SAFETY: the class was enlarged before there was an instance.
        unsafe { function.cast::<u8>().offset(SIZE).cast::<vectorcallfunc>().write(vectorcall) };
    }
}

/// The instance's vectorcall.
unsafe extern "C" fn vectorcall(
    function: *mut PyObject,
    items: *const *mut PyObject,
    count: usize,
    keywords: *mut PyObject,
) -> *mut PyObject {
    // SAFETY: CPython passes as many items; `fill` stores this in instances of `Function` itself,
    // whose class cannot change, since it is static.
    unsafe {
        let positional = PyVectorcall_NARGS(count) as usize;
        if keywords.is_null()
            && let Some(result) = call::invoke_exact(function, items, positional)
        {
            return result;
        }
        by_upstream(function, items, positional, keywords)
    }
}

/// Calls upstream's function with a tuple and a dict.
#[cold]
unsafe fn by_upstream(
    function: *mut PyObject,
    items: *const *mut PyObject,
    positional: usize,
    keywords: *mut PyObject,
) -> *mut PyObject {
    // SAFETY: there are `positional` items, and one more for each keyword.
    unsafe {
        let arguments = PyTuple_New(positional as Py_ssize_t);
        if arguments.is_null() {
            return arguments;
        }
        for index in 0..positional {
            PyTuple_SET_ITEM(arguments, index as Py_ssize_t, new_ref(*items.add(index)));
        }
        let named = dict_of(keywords, items.add(positional));
        let result = if named.is_null() && !PyErr_Occurred().is_null() {
            null_mut()
        } else {
            (state::get().call)(function, arguments, named)
        };
        Py_XDECREF(named);
        Py_DECREF(arguments);
        result
    }
}

/// Returns keywords as a dict; null without keywords, or with a Python error.
unsafe fn dict_of(keywords: *mut PyObject, values: *const *mut PyObject) -> *mut PyObject {
    // SAFETY: `keywords` is null or a tuple of names, which has as many values.
    unsafe {
        if keywords.is_null() || PyTuple_GET_SIZE(keywords) == 0 {
            return null_mut();
        }
        let named = PyDict_New();
        if named.is_null() {
            return named;
        }
        for index in 0..PyTuple_GET_SIZE(keywords) {
            if PyDict_SetItem(named, PyTuple_GET_ITEM(keywords, index), *values.offset(index)) != 0
            {
                Py_DECREF(named);
                return null_mut();
            }
        }
        named
    }
}
