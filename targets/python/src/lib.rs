//! Makes upstream's extension `tvm_ffi.core` faster in the running process.
//!
//! `activate` probes upstream's types, and replaces slots of theirs by functions of this extension.
//! What a fast path does not know goes to the slot that was there before, unchanged.
//!
//! - `layout`, `state`: the probes, and what they found
//! - `call`: calls of `Function`
//! - `arguments`, `results`, `errors`: conversions
//! - `library`, `python`: the two C interfaces

mod arguments;
mod call;
mod errors;
mod layout;
mod library;
mod python;
mod report;
mod results;
mod state;

use core::ffi::c_int;
use core::ptr::{addr_of_mut, null_mut};
use pyo3_ffi::*;

static mut METHODS: [PyMethodDef; 3] = [
    PyMethodDef {
        ml_name: c"activate".as_ptr(),
        ml_meth: PyMethodDefPointer { PyCFunction: report::activate },
        ml_flags: METH_VARARGS,
        ml_doc: c"activate(core, library)\n--\n\nReplace slots of tvm_ffi.core, and return a dict: name to None, or to the reason why it was left alone."
            .as_ptr(),
    },
    PyMethodDef {
        ml_name: c"forget_classes".as_ptr(),
        ml_meth: PyMethodDefPointer { PyCFunction: report::forget_classes },
        ml_flags: METH_NOARGS,
        ml_doc: c"forget_classes()\n--\n\nForget the classes that are registered for types: a registration changed.".as_ptr(),
    },
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
/// CPython calls it, with the interpreter's lock.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "the name that CPython looks for")]
pub unsafe extern "C" fn PyInit_ferrite_python() -> *mut PyObject {
    // SAFETY: the definition is static, and CPython alone changes it.
    unsafe { PyModuleDef_Init(addr_of_mut!(MODULE)) }
}

const _: () = assert!(size_of::<c_int>() == 4);
