//! Raised errors of the library as Python exceptions.

use crate::python::{Locked, Owned, new_ref, word};
use crate::state::{self, HANDLE};
use core::ffi::{c_char, c_int, c_void};
use core::ptr::null_mut;
use ferrite_core::abi::TVMFFIErrorCell;
use pyo3_ffi::*;

/// The status of a callee that has set a Python error.
const IS_SET: c_int = -2;
/// The kind of an error that says that a Python error is set.
const IS_SET_KIND: &[u8] = b"EnvErrorAlreadySet";
/// Offset of an error's content behind the object's header.
const CELL: usize = 24;

/// The function of upstream's extension that a traceback shows.
#[derive(Clone, Copy)]
pub enum Frame {
    /// `Function.__call__`.
    Call,
    /// `FieldSetter.__call__`.
    Setter,
    /// No frame.
    None,
}

/// The code objects of the frames, owned; null for none.
static FRAMES: Locked<[*mut PyObject; 3]> = Locked::new();

/// Begins without frames.
///
/// # Safety
/// The lock must be held; called once, before `raise`.
pub unsafe fn start() {
    // SAFETY: as the caller guarantees.
    unsafe { FRAMES.set([null_mut(); 3]) };
}

/// The Python function `frame(index, file, name, line)`: the frame that upstream's function has in
/// a traceback.
///
/// # Safety
/// CPython must call it, with the interpreter's lock.
pub unsafe extern "C" fn frame(_: *mut PyObject, arguments: *mut PyObject) -> *mut PyObject {
    let (mut index, mut line): (c_int, c_int) = (0, 0);
    let (mut file, mut name): (*const c_char, *const c_char) =
        (core::ptr::null(), core::ptr::null());
    // SAFETY: the format has these types; a code object is kept for ever.
    unsafe {
        if PyArg_ParseTuple(
            arguments,
            c"issi".as_ptr(),
            &mut index,
            &mut file,
            &mut name,
            &mut line,
        ) == 0
        {
            return null_mut();
        }
        if let Some(code) = (*FRAMES.get()).get_mut(index as usize) {
            *code = PyCode_NewEmpty(file, name, line).cast();
        }
        PyErr_Clear();
        new_ref(Py_None())
    }
}

/// Adds a frame to the traceback of the error that is set.
unsafe fn add(frame: Frame) {
    // SAFETY: an error is set; upstream's frames have the names of its module, too.
    unsafe {
        let code = (*FRAMES.get())[frame as usize];
        if code.is_null() || PyErr_Occurred().is_null() {
            return;
        }
        let frame = PyFrame_New(PyThreadState_Get(), code.cast(), state::get().names, null_mut());
        if !frame.is_null() {
            PyTraceBack_Here(frame);
            Py_DECREF(frame.cast());
        }
    }
}

/// Raises the error of a call that failed, as a Python exception. Returns null.
///
/// # Safety
/// The extension must be active, the lock held, and a call on this thread must have returned
/// `status`, whose error must not have been taken since.
#[cold]
pub unsafe fn raise(status: c_int, frame: Frame) -> *mut PyObject {
    if status != IS_SET {
        // SAFETY: the library has raised an error.
        unsafe { raise_object() };
    }
    // SAFETY: the lock is held.
    unsafe {
        if PyErr_Occurred().is_null() {
            PyErr_SetString(PyExc_SystemError, c"a function failed without an error".as_ptr());
        }
        add(frame);
    }
    null_mut()
}

/// Takes over the raised error, and raises what `Error.py_error` makes of it.
///
/// # Safety
/// Same requirements as `raise`.
unsafe fn raise_object() {
    // SAFETY: `Error` is a wrapper: its handle is at the probed offset and owned by the wrapper.
    unsafe {
        let state = state::get();
        let Some(new) = (*state.error).tp_new else { return };
        let Some(error) = Owned::from_new(new(state.error, state.no_arguments, null_mut())) else {
            return;
        };
        let handle = error.as_ptr().cast::<u8>().add(HANDLE).cast::<*mut c_void>();
        (state.library.move_raised)(handle);
        if (*handle).is_null() || kind_of(*handle) == IS_SET_KIND {
            return;
        }
        let made = PyObject_CallMethod(error.as_ptr(), c"py_error".as_ptr(), core::ptr::null());
        if let Some(exception) = Owned::from_new(made) {
            PyErr_SetObject(Py_TYPE(exception.as_ptr()).cast(), exception.as_ptr());
        }
    }
}

/// Returns the kind of an error object.
///
/// # Safety
/// `handle` must be an error object, which must outlive the result.
unsafe fn kind_of<'a>(handle: *mut c_void) -> &'a [u8] {
    // SAFETY: the content follows the header.
    unsafe { word::<TVMFFIErrorCell>(handle.cast(), CELL).kind.as_slice() }
}
