//! Makes upstream's extension `tvm_ffi.core` faster in the running process.
//!
//! `activate` probes upstream's types, and replaces slots of theirs by functions of this extension.
//! Calls without a fast path go to the former slot, unchanged.
//!
//! - `layout`, `state`: the probes, and what they found
//! - `call`, `vectorcall`: calls of `Function`
//! - `arguments`, `results`, `errors`, `tracebacks`: conversions
//! - `containers`, `fields`: methods and slots of Array, List, Map and Dict; the fields of classes
//! - `exchange`: tensors of frameworks
//! - `callbacks`: Python callables as functions
//! - `methods`, `paths`, `constructors`: descriptors in the place of Python functions
//! - `library`, `python`: the two C interfaces

mod arguments;
mod call;
mod callbacks;
mod constructors;
mod containers;
mod errors;
mod exchange;
mod fields;
mod layout;
mod library;
mod methods;
mod paths;
mod python;
mod report;
mod results;
mod state;
mod tracebacks;
mod vectorcall;

use core::ffi::{CStr, c_int};
use core::ptr::{addr_of_mut, null_mut};
use pyo3_ffi::*;

/// A Python function of the module.
const fn function(
    name: &'static CStr,
    function: PyCFunction,
    flags: c_int,
    doc: &'static CStr,
) -> PyMethodDef {
    PyMethodDef {
        ml_name: name.as_ptr(),
        ml_meth: PyMethodDefPointer { PyCFunction: function },
        ml_flags: flags,
        ml_doc: doc.as_ptr(),
    }
}

static mut METHODS: [PyMethodDef; 15] = [
    function(
        c"activate",
        report::activate,
        METH_VARARGS,
        c"Probe tvm_ffi.core and replace its slots: a dict of parts, to None or to the reason why one was left alone.",
    ),
    function(c"forget_classes", report::forget_classes, METH_NOARGS, c"Forget the classes that are registered for types."),
    function(c"containers", containers::start, METH_VARARGS, c"Keep the container classes, which the methods need."),
    function(c"method", paths::method, METH_VARARGS, c"Return a method with a fast path over a function."),
    function(c"sequence_slots", containers::sequence_slots, METH_O, c"Set the slots of Array or List."),
    function(c"fields", fields::activate, METH_VARARGS, c"Probe FFIProperty and replace its slots: None, or the reason why not."),
    function(c"frame", errors::frame, METH_VARARGS, c"Set the frame that a function of upstream's has in tracebacks."),
    function(c"tracebacks", tracebacks::replace, METH_O, c"Do the work of upstream's function that adds frames to tracebacks, or of none."),
    function(c"lines", tracebacks::lines, METH_O, c"Return the lines of a backtrace; None if upstream's function has to read it."),
    function(c"enlarge", vectorcall::enlarge, METH_O, c"Give Function, which has no instances, a place for a vectorcall: None, or the reason why not."),
    function(c"callbacks", report::callbacks, METH_O, c"Probe CAny on an object, for callbacks: whether they can be used."),
    function(c"function_of", callbacks::function_of, METH_O, c"Return a Function that calls a Python callable."),
    function(c"constructors", constructors::start, METH_VARARGS, c"Keep what constructors need of upstream's."),
    function(c"describe", report::describe, METH_O, c"Set attributes of the class Function."),
    PyMethodDef::zeroed(),
];

static mut SLOTS: [PyModuleDef_Slot; 1] = [PyModuleDef_Slot { slot: 0, value: null_mut() }];

static mut MODULE: PyModuleDef = PyModuleDef {
    m_base: PyModuleDef_HEAD_INIT,
    m_name: c"ferrite_python".as_ptr(),
    m_doc: c"Makes tvm_ffi.core faster in the running process.".as_ptr(),
    m_size: 0,
    m_methods: addr_of_mut!(METHODS).cast(),
    m_slots: addr_of_mut!(SLOTS).cast(),
    m_traverse: None,
    m_clear: None,
    m_free: None,
};

/// Makes the module.
///
/// # Safety
/// CPython must call it, with the interpreter's lock.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "the name that CPython looks for")]
pub unsafe extern "C" fn PyInit_ferrite_python() -> *mut PyObject {
    // SAFETY: the definition is static, and CPython alone changes it.
    unsafe { PyModuleDef_Init(addr_of_mut!(MODULE)) }
}

const _: () = assert!(size_of::<c_int>() == 4);
