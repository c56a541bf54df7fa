//! Activation, and its report: what became fast, and why the rest was left to upstream's code.

use crate::layout::{self, Reason};
use crate::library::Library;
use crate::python::new_ref;
use crate::{arguments, call, callbacks, errors, methods, results, state, tracebacks};
use core::ffi::CStr;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicBool, Ordering};
use pyo3_ffi::*;

/// Whether `activate` was called: slots are replaced once.
static IS_ACTIVE: AtomicBool = AtomicBool::new(false);

/// The Python function `activate(core, library)`.
///
/// # Safety
/// CPython must call it, with the interpreter's lock.
pub unsafe extern "C" fn activate(_: *mut PyObject, arguments: *mut PyObject) -> *mut PyObject {
    let (mut core, mut library): (*mut PyObject, u64) = (null_mut(), 0);
    // SAFETY: the format has these types.
    unsafe {
        if PyArg_ParseTuple(arguments, c"OK".as_ptr(), &mut core, &mut library) == 0 {
            return null_mut();
        }
        if IS_ACTIVE.swap(true, Ordering::Relaxed) {
            PyErr_SetString(PyExc_RuntimeError, c"activate was called before".as_ptr());
            return null_mut();
        }
        let report = PyDict_New();
        if report.is_null() {
            return null_mut();
        }
        match start(core, library) {
            Ok(()) => parts(report),
            Err(reason) => enter(report, c"calls", Err(reason)),
        }
        PyErr_Clear();
        report
    }
}

/// Probes upstream's types, and keeps what was found.
unsafe fn start(core: *mut PyObject, library: u64) -> Result<(), Reason> {
    // SAFETY: the caller's handle is of the library that upstream's package has loaded.
    unsafe {
        let library = Library::open(library as usize as *mut _)
            .map_err(|name| format!("the library has no {}", name.to_string_lossy()))?;
        arguments::start();
        results::start();
        errors::start();
        tracebacks::start();
        if !methods::start() {
            return Err("a type cannot be made".into());
        }
        state::set(layout::probe(core, library)?);
        arguments::start_nested();
    }
    Ok(())
}

/// Replaces the slots, part by part.
unsafe fn parts(report: *mut PyObject) {
    // SAFETY: the state is set.
    unsafe {
        let state = state::get();
        (*state.function).tp_call = Some(call::call);
        PyType_Modified(state.function);
        enter(report, c"calls", Ok(()));
        let arrays = if state.array.is_null() {
            Err("NumPy is not imported, or has another layout".into())
        } else {
            Ok(())
        };
        enter(report, c"NumPy arrays", arrays);
    }
}

/// Adds a part to the report.
unsafe fn enter(report: *mut PyObject, part: &CStr, outcome: Result<(), Reason>) {
    // SAFETY: the report is a dict.
    unsafe {
        let value = match outcome {
            Ok(()) => new_ref(Py_None()),
            Err(reason) => {
                PyUnicode_FromStringAndSize(reason.as_ptr().cast(), reason.len() as Py_ssize_t)
            }
        };
        if !value.is_null() {
            PyDict_SetItemString(report, part.as_ptr(), value);
            Py_DECREF(value);
        }
    }
}

/// The Python function `forget_classes()`.
///
/// # Safety
/// CPython must call it, with the interpreter's lock.
pub unsafe extern "C" fn forget_classes(_: *mut PyObject, _: *mut PyObject) -> *mut PyObject {
    // SAFETY: `activate` has begun with no classes, or nothing was replaced.
    unsafe {
        if IS_ACTIVE.load(Ordering::Relaxed) {
            results::forget_classes();
        }
        new_ref(Py_None())
    }
}

/// The Python function `callbacks(object)`: whether values of callbacks can be stored.
///
/// # Safety
/// CPython must call it, with the interpreter's lock.
pub unsafe extern "C" fn callbacks(_: *mut PyObject, object: *mut PyObject) -> *mut PyObject {
    // SAFETY: the argument is checked to be a wrapper.
    unsafe {
        let is_wrapper = PyType_IsSubtype(Py_TYPE(object), state::get().object_base) != 0;
        PyBool_FromLong((is_wrapper && callbacks::start(object)).into())
    }
}

/// The Python function `describe(attributes)`: adds attributes to the class `Function`, which is
/// static and refuses them from Python.
///
/// # Safety
/// CPython must call it, with the interpreter's lock.
pub unsafe extern "C" fn describe(_: *mut PyObject, attributes: *mut PyObject) -> *mut PyObject {
    // SAFETY: the class is alive, and its lookups are forgotten after the change.
    unsafe {
        if !IS_ACTIVE.load(Ordering::Relaxed) {
            PyErr_SetString(PyExc_RuntimeError, c"nothing was replaced".as_ptr());
            return null_mut();
        }
        let function = state::get().function;
        let status = PyDict_Update((*function).tp_dict, attributes);
        PyType_Modified(function);
        if status == 0 { new_ref(Py_None()) } else { null_mut() }
    }
}
