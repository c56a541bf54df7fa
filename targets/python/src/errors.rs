//! Raised errors of the library as Python exceptions.

use crate::python::{Locked, Owned, new_ref};
use crate::state;
use crate::{results, tracebacks};
use core::ffi::{c_char, c_int, c_void};
use core::ptr::null_mut;
use ferrite_core::abi::{TVMFFIByteArray, TVMFFIErrorCell};
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
    /// The function that upstream makes for a method.
    Method,
    /// No frame.
    None,
}

/// The frames, as `tracebacks::keep` returns them, owned; null for none.
static FRAMES: Locked<[*mut PyObject; 4]> = Locked::new();

/// Begins without frames.
///
/// # Safety
/// The lock must be held; called once, before `raise`.
pub unsafe fn start() {
    // SAFETY: as the caller guarantees.
    unsafe {
        FRAMES.set([null_mut(); 4]);
        KINDS.set([null_mut(); 8]);
    }
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
    // SAFETY: the format has these types; a frame is kept for ever.
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
        if let Some(kept) = (*FRAMES.get()).get_mut(index as usize) {
            let code = PyCode_NewEmpty(file, name, line).cast();
            *kept = tracebacks::keep(code, state::get().names);
        }
        PyErr_Clear();
        new_ref(Py_None())
    }
}

/// Adds a frame to the traceback of the error that is set.
///
/// # Safety
/// The extension must be active, and the lock held.
#[cold]
pub unsafe fn add(frame: Frame) {
    // SAFETY: an error is set; upstream's frames have the names of its module, too.
    unsafe {
        let frame = *FRAMES.element(frame as usize);
        if !frame.is_null() && !PyErr_Occurred().is_null() {
            tracebacks::add(frame, state::get().names);
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
    // SAFETY: as the caller guarantees.
    unsafe { raise_taken(take(status), frame) }
}

/// Releases the arguments of a call that failed, and raises its error. Returns null.
///
/// The release may run Python code, which may fail and catch that: the error is taken over before.
///
/// # Safety
/// Same requirements as `raise`; `arguments` must be those of the call.
#[cold]
pub unsafe fn raise_after<T>(status: c_int, frame: Frame, arguments: T) -> *mut PyObject {
    // SAFETY: as the caller guarantees.
    unsafe {
        let taken = take(status);
        drop(arguments);
        raise_taken(taken, frame)
    }
}

/// Takes over the library's raised error; `None` if a Python error is set.
unsafe fn take(status: c_int) -> Option<*mut c_void> {
    if status == IS_SET {
        return None;
    }
    let mut handle = null_mut();
    // SAFETY: the library writes an error or leaves null.
    unsafe { (state::get().library.move_raised)(&mut handle) };
    Some(handle)
}

/// Raises an error that was taken over, or keeps the Python error that is set.
///
/// # Safety
/// The extension must be active, and the lock held; `taken` must come from `take`.
unsafe fn raise_taken(taken: Option<*mut c_void>, frame: Frame) -> *mut PyObject {
    // SAFETY: as the caller guarantees.
    unsafe {
        if let Some(handle) = taken.filter(|handle| !handle.is_null()) {
            raise_object(handle);
        }
        if PyErr_Occurred().is_null() {
            PyErr_SetString(PyExc_SystemError, c"a function failed without an error".as_ptr());
        }
        add(frame);
    }
    null_mut()
}

/// Adds the frames that upstream's functions have in a traceback to that of the error that is set.
/// `frames` is a string with their lines, innermost first, or None.
///
/// # Safety
/// The extension must be active, the lock held, and `frames` alive; an error must be set.
#[cold]
pub unsafe fn add_lines(frames: *mut PyObject) {
    // SAFETY: the string owns its bytes. What is looked up leaves no error.
    unsafe {
        let mut size: Py_ssize_t = 0;
        if PyUnicode_Check(frames) == 0 {
            return;
        }
        let data = PyUnicode_AsUTF8AndSize(frames, &mut size);
        if data.is_null() {
            return;
        }
        let lines = core::slice::from_raw_parts(data.cast::<u8>(), size as usize);
        if let Some(frames) = tracebacks::items(lines) {
            tracebacks::append(&frames);
        }
    }
}

/// Raises an error as an exception that keeps it.
///
/// # Safety
/// Same requirements as `raise`; the caller must own the error, which passes to this function.
unsafe fn raise_object(handle: *mut c_void) {
    // SAFETY: `Error` is a wrapper: its handle is at the probed offset and owned by the wrapper.
    unsafe {
        let state = state::get();
        let Some(error) = Owned::from_new(results::wrap(state.error, handle)) else { return };
        if cell(handle).kind.as_slice() == IS_SET_KIND {
            return;
        }
        if raise_cell(&error, cell(handle)).is_some() {
            return;
        }
        let made = PyObject_CallMethod(error.as_ptr(), c"py_error".as_ptr(), core::ptr::null());
        if let Some(exception) = Owned::from_new(made) {
            PyErr_SetObject(Py_TYPE(exception.as_ptr()).cast(), exception.as_ptr());
        }
    }
}

/// Raises an error by its content, as `Error.py_error` does. Returns `None` if that has to do it:
/// nothing has happened then.
///
/// # Safety
/// Same requirements as `raise`; `cell` must be the content of `error`.
unsafe fn raise_cell(error: &Owned, cell: &TVMFFIErrorCell) -> Option<()> {
    // SAFETY: the dict owns the class, which is retained while it is called.
    unsafe {
        let state = state::get();
        if !tracebacks::is_replaced(PyDict_GetItem(state.names, state.append_name)) {
            return None;
        }
        let frames = tracebacks::items(cell.backtrace.as_slice())?;
        let classes = PyDict_GetItem(state.names, state.classes_name);
        if classes.is_null() || Py_TYPE(classes) != &raw mut PyDict_Type {
            return None;
        }
        let (kind, message) = (kind(&cell.kind)?, text(&cell.message)?);
        let found = PyDict_GetItem(classes, kind.as_ptr());
        let class = if found.is_null() { PyExc_RuntimeError } else { found };
        if PyExceptionClass_Check(class) == 0 {
            return None;
        }
        let class = Owned::from_new(new_ref(class))?;
        let made =
            PyObject_CallFunctionObjArgs(class.as_ptr(), message.as_ptr(), null_mut::<PyObject>());
        let Some(exception) = Owned::from_new(made) else { return Some(()) };
        if PyExceptionInstance_Check(exception.as_ptr()) == 0 {
            return None;
        }
        if PyObject_SetAttr(exception.as_ptr(), state.error_name, error.as_ptr()) == 0 {
            PyErr_SetObject(Py_TYPE(exception.as_ptr()).cast(), exception.as_ptr());
            tracebacks::append(&frames);
        }
    }
    Some(())
}

/// The kinds of the last errors, strings; owned, or null.
static KINDS: Locked<[*mut PyObject; 8]> = Locked::new();

/// Returns the kind of an error as a string, which keeps its hash for the next error of that kind.
///
/// # Safety
/// The lock must be held, `start` must have been called, and `name` must be valid.
unsafe fn kind(name: &TVMFFIByteArray) -> Option<Owned> {
    // SAFETY: the lock guards the list; a string runs no Python code when it is released.
    unsafe {
        let bytes = name.as_slice();
        let first = bytes.first().copied().unwrap_or(0);
        let place = KINDS.element(usize::from(first) ^ bytes.len());
        let mut size: Py_ssize_t = 0;
        let known = if (*place).is_null() {
            core::ptr::null()
        } else {
            PyUnicode_AsUTF8AndSize(*place, &mut size)
        };
        let is_known = !known.is_null()
            && core::slice::from_raw_parts(known.cast::<u8>(), size as usize) == bytes;
        if !is_known {
            let made = text(name)?;
            Py_XDECREF(place.replace(made.into_raw()));
        }
        Owned::from_new(new_ref(*place))
    }
}

/// Returns text of the library as a Python string; `None` if it is not in UTF-8.
///
/// # Safety
/// The lock must be held, and `text` must be valid.
unsafe fn text(text: &TVMFFIByteArray) -> Option<Owned> {
    // SAFETY: as the caller guarantees.
    unsafe {
        let made = PyUnicode_DecodeUTF8(text.data, text.size as Py_ssize_t, core::ptr::null());
        if made.is_null() {
            PyErr_Clear();
        }
        Owned::from_new(made)
    }
}

/// Returns the content of an error object.
///
/// # Safety
/// `handle` must be an error object, which must outlive the result, and whose content must not
/// change meanwhile.
unsafe fn cell<'a>(handle: *mut c_void) -> &'a TVMFFIErrorCell {
    // SAFETY: the content follows the header.
    unsafe { &*handle.cast::<u8>().add(CELL).cast() }
}
