//! Callbacks: Python callables as functions of the library.

use crate::arguments::{Reference, convert};
use crate::call::NONE;
use crate::python::{Locked, Owned, attribute, word};
use crate::state::{self, ANY, HANDLE};
use crate::{errors, results};
use core::ffi::{c_int, c_void};
use core::mem::MaybeUninit;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicBool, Ordering};
use ferrite_core::abi::{
    TVMFFIAny, TVMFFIAnyPayload, TVMFFIByteArray, TVMFFIObject, TVMFFIObjectHandle, type_index,
};
use pyo3_ffi::*;

/// The most arguments without memory from the heap.
const CAPACITY: usize = 8;

/// Number of references that a `CAny` of an object takes: upstream's takes two, and releases one.
static TAKEN: Locked<u64> = Locked::new();

/// Whether that was counted.
static IS_READY: AtomicBool = AtomicBool::new(false);

/// Counts the references that `CAny` takes. Returns `false` if they cannot be counted.
///
/// # Safety
/// The state must be set, and the lock held; `sample` must be a wrapper of an object that no other
/// thread retains or releases.
pub unsafe fn start(sample: *mut PyObject) -> bool {
    // SAFETY: the object's counts are read while the lock is held.
    unsafe {
        let object: *mut TVMFFIObject = word(sample, HANDLE);
        let strong = || (*object).combined_ref_count & 0xffff_ffff;
        let before = strong();
        let made =
            PyObject_CallFunctionObjArgs(state::get().any.cast(), sample, null_mut::<PyObject>());
        let Some(any) = Owned::from_new(made) else {
            PyErr_Clear();
            return false;
        };
        let taken = strong() - before;
        drop(any);
        // What is left over was leaked.
        while strong() > before {
            (state::get().library.dec_ref)(object.cast());
        }
        TAKEN.set(taken);
        let is_known = (1..=2).contains(&taken);
        IS_READY.store(is_known, Ordering::Relaxed);
        is_known
    }
}

/// Makes a function of a callable; null with a raised error of the library.
///
/// # Safety
/// The state must be set, the lock held, and `callable` alive.
pub unsafe fn create(callable: *mut PyObject) -> TVMFFIObjectHandle {
    // SAFETY: the function owns a reference to the callable, which its deleter releases.
    unsafe {
        let mut handle = null_mut();
        Py_INCREF(callable);
        let status =
            (state::get().library.create)(callable.cast(), callback, Some(delete), &mut handle);
        if status != 0 {
            Py_DECREF(callable);
            return null_mut();
        }
        handle
    }
}

/// The Python function `function_of(callable)`: a `Function` that calls it.
///
/// # Safety
/// CPython must call it, with the interpreter's lock.
pub unsafe extern "C" fn function_of(_: *mut PyObject, callable: *mut PyObject) -> *mut PyObject {
    // SAFETY: the new function is passed on.
    unsafe {
        let handle = create(callable);
        if handle.is_null() {
            return errors::raise(-1, errors::Frame::None);
        }
        let payload = TVMFFIAnyPayload { v_ptr: handle };
        results::from_owned(TVMFFIAny {
            type_index: type_index::FUNCTION,
            small_str_len: 0,
            payload,
        })
    }
}

/// Deleter of functions; any thread may call it. After the interpreter's end nothing is released.
unsafe extern "C" fn delete(callable: *mut c_void) {
    // SAFETY: the function owned the reference.
    unsafe {
        if Py_IsInitialized() != 0 {
            let thread = PyGILState_Ensure();
            Py_DECREF(callable.cast());
            PyGILState_Release(thread);
        }
    }
}

/// The function that the library calls.
unsafe extern "C" fn callback(
    callable: TVMFFIObjectHandle,
    values: *const TVMFFIAny,
    count: i32,
    result: *mut TVMFFIAny,
) -> c_int {
    // SAFETY: the library passes as many values, and the function's callable.
    unsafe {
        let thread = PyGILState_Ensure();
        // The function may be released while it runs.
        let callable = Owned::borrowed(callable.cast());
        let status = serve(callable.as_ptr(), values, count.max(0) as usize, result);
        drop(callable);
        PyGILState_Release(thread);
        status
    }
}

/// Python objects made of a callback's arguments.
struct Objects {
    /// The first object; the place before it is free, as CPython asks for.
    first: *mut *mut PyObject,
    count: usize,
}

impl Drop for Objects {
    #[inline(always)]
    fn drop(&mut self) {
        for index in 0..self.count {
            // SAFETY: these places own their objects.
            unsafe { Py_DECREF(*self.first.add(index)) };
        }
    }
}

/// Calls a callable with borrowed values, and stores its result.
///
/// # Safety
/// The extension must be active, the lock held, and `callable` alive; `values` must point to
/// `count` valid values, and `result` must be valid for writes.
#[inline(always)]
unsafe fn serve(
    callable: *mut PyObject,
    values: *const TVMFFIAny,
    count: usize,
    result: *mut TVMFFIAny,
) -> c_int {
    let mut places = MaybeUninit::<[*mut PyObject; CAPACITY + 1]>::uninit();
    // SAFETY: as the caller guarantees; there is a place more than arguments.
    unsafe {
        if count > CAPACITY {
            return serve_many(callable, values, count, result);
        }
        serve_in(places.as_mut_ptr().cast(), callable, values, count, result)
    }
}

/// Does the work of `serve` for any number of arguments.
///
/// # Safety
/// Same requirements as `serve`.
#[cold]
#[inline(never)]
unsafe fn serve_many(
    callable: *mut PyObject,
    values: *const TVMFFIAny,
    count: usize,
    result: *mut TVMFFIAny,
) -> c_int {
    let mut places = vec![null_mut(); count + 1];
    // SAFETY: as the caller guarantees; there is a place more than arguments.
    unsafe { serve_in(places.as_mut_ptr(), callable, values, count, result) }
}

/// Calls a callable. `places` gets the objects of the arguments, after a place that stays free.
///
/// # Safety
/// Same requirements as `serve`; `places` must be valid for writes of `count + 1` pointers.
#[inline(always)]
unsafe fn serve_in(
    places: *mut *mut PyObject,
    callable: *mut PyObject,
    values: *const TVMFFIAny,
    count: usize,
    result: *mut TVMFFIAny,
) -> c_int {
    // SAFETY: as the caller guarantees.
    unsafe {
        let mut objects = Objects { first: places.add(1), count: 0 };
        for index in 0..count {
            let object = argument(&*values.add(index));
            if object.is_null() {
                return forward();
            }
            objects.first.add(index).write(object);
            objects.count = index + 1;
        }
        let flags = count | PY_VECTORCALL_ARGUMENTS_OFFSET;
        let returned = PyObject_Vectorcall(callable, objects.first, flags, null_mut());
        match Owned::from_new(returned) {
            Some(returned) => store(returned.as_ptr(), result),
            None => forward(),
        }
    }
}

/// Makes a Python object of an argument. Returns null with a Python error.
///
/// # Safety
/// The extension must be active, the lock held, and the value valid.
#[inline(always)]
unsafe fn argument(value: &TVMFFIAny) -> *mut PyObject {
    if value.type_index == type_index::INT {
        // SAFETY: the type index says which payload there is.
        return unsafe { PyLong_FromLongLong(value.payload.v_int64) };
    }
    // SAFETY: as the caller guarantees.
    unsafe { argument_of_kind(value) }
}

/// Makes a Python object of an argument that is not an integer.
///
/// # Safety
/// Same requirements as `argument`.
#[inline(never)]
unsafe fn argument_of_kind(value: &TVMFFIAny) -> *mut PyObject {
    // SAFETY: the type index says which payload there is.
    unsafe {
        match value.type_index {
            type_index::RAW_STR => PyUnicode_FromString(value.payload.v_c_str),
            type_index::BYTE_ARRAY_PTR => {
                let bytes: TVMFFIByteArray = value.payload.v_ptr.cast::<TVMFFIByteArray>().read();
                PyBytes_FromStringAndSize(bytes.data, bytes.size as Py_ssize_t)
            }
            type_index::OBJECT_RVALUE_REF => moved(value.payload.v_ptr.cast()),
            _ => results::from_borrowed(*value),
        }
    }
}

/// Moves an object out of the caller's place.
unsafe fn moved(place: *mut *mut TVMFFIObject) -> *mut PyObject {
    // SAFETY: the caller lends the place.
    unsafe {
        let object = place.replace(null_mut());
        if object.is_null() {
            PyErr_SetString(PyExc_ValueError, c"RValueRef already moved".as_ptr());
            return null_mut();
        }
        let payload = TVMFFIAnyPayload { v_obj: object };
        results::from_owned(TVMFFIAny {
            type_index: (*object).type_index,
            small_str_len: 0,
            payload,
        })
    }
}

/// Stores what a callable has returned as an owned value.
///
/// # Safety
/// The extension must be active, the lock held, and `returned` alive; `result` must be valid for
/// writes.
#[inline(always)]
unsafe fn store(returned: *mut PyObject, result: *mut TVMFFIAny) -> c_int {
    let mut value = NONE;
    // SAFETY: the result can be written; a borrowed value's object is alive until this returns.
    unsafe {
        match convert(returned, &mut value) {
            Some(Reference::Borrowed) if value.type_index < type_index::OPAQUE_PTR => {
                result.write(value)
            }
            Some(Reference::Borrowed) => return (state::get().library.to_owned)(&value, result),
            Some(_) => result.write(value),
            None => return store_by_upstream(returned, result),
        }
    }
    0
}

/// Stores an object by upstream's conversion, in a `CAny`.
#[cold]
unsafe fn store_by_upstream(returned: *mut PyObject, result: *mut TVMFFIAny) -> c_int {
    // SAFETY: the layout of `CAny`, and how often it retains its object, were probed.
    unsafe {
        let made =
            PyObject_CallFunctionObjArgs(state::get().any.cast(), returned, null_mut::<PyObject>());
        let Some(any) = Owned::from_new(made) else { return forward() };
        let value: TVMFFIAny = word(any.as_ptr(), ANY);
        if value.type_index >= type_index::STATIC_OBJECT_BEGIN && *TAKEN.get() == 1 {
            (state::get().library.inc_ref)(value.payload.v_ptr);
        }
        result.write(value);
    }
    0
}

/// Raises the Python error that is set as an error of the library. Returns -1.
#[cold]
#[allow(deprecated, reason = "the functions that take their place are new in CPython 3.12")]
unsafe fn forward() -> c_int {
    // SAFETY: a Python error is set, and its parts are owned.
    unsafe {
        let (mut class, mut value, mut traceback) = (null_mut(), null_mut(), null_mut());
        PyErr_Fetch(&mut class, &mut value, &mut traceback);
        PyErr_NormalizeException(&mut class, &mut value, &mut traceback);
        if !traceback.is_null() {
            PyException_SetTraceback(value, traceback);
        }
        if raise_exception(value).is_none() {
            // Its `__str__` has failed, say. A callee that fails must have raised an error: C++
            // callers read it.
            PyErr_WriteUnraisable(value);
            let message = c"an exception of a callback could not be converted".as_ptr();
            (state::get().library.set_raised_from)(c"RuntimeError".as_ptr(), message);
        }
        Py_XDECREF(class);
        Py_XDECREF(value);
        Py_XDECREF(traceback);
    }
    -1
}

/// Raises an exception as an error of the library, with both backtraces. Returns `None` with a
/// Python error if that fails.
unsafe fn raise_exception(exception: *mut PyObject) -> Option<()> {
    // SAFETY: the objects are alive.
    unsafe {
        let state = state::get();
        let convert = PyDict_GetItemString(state.names, c"_convert_to_ffi_error".as_ptr());
        let error = Owned::from_new(PyObject_CallFunctionObjArgs(
            convert,
            exception,
            null_mut::<PyObject>(),
        ))?;
        if let Some(both) = backtraces(&error) {
            let name = c"update_backtrace".as_ptr();
            drop(Owned::from_new(PyObject_CallMethod(
                error.as_ptr(),
                name,
                c"O".as_ptr(),
                both.as_ptr(),
            )));
        }
        // The error is raised even if that has failed.
        PyErr_Clear();
        (state.library.set_raised)(word(error.as_ptr(), HANDLE));
        Some(())
    }
}

/// Returns an error's backtrace with that of the C functions on the stack.
unsafe fn backtraces(error: &Owned) -> Option<Owned> {
    // SAFETY: the library's string is valid until its next call on this thread.
    unsafe {
        let of_python = attribute(error.as_ptr(), c"backtrace")?;
        let here =
            (state::get().library.backtrace)(core::ptr::null(), 0, core::ptr::null(), 0).read();
        let of_c = PyUnicode_DecodeUTF8(here.data, here.size as Py_ssize_t, c"replace".as_ptr());
        let of_c = Owned::from_new(of_c)?;
        Owned::from_new(PyUnicode_Concat(of_python.as_ptr(), of_c.as_ptr()))
    }
}

/// Converts a callable that is an argument.
///
/// # Safety
/// The extension must be active, the lock held, and `object` alive; `out` must be valid for writes.
pub unsafe fn convert_callable(object: *mut PyObject, out: *mut TVMFFIAny) -> Option<Reference> {
    if !IS_READY.load(Ordering::Relaxed) {
        return None;
    }
    // SAFETY: the new function is owned by the value.
    unsafe {
        let handle = create(object);
        if handle.is_null() {
            return None;
        }
        out.write(TVMFFIAny {
            type_index: type_index::FUNCTION,
            small_str_len: 0,
            payload: TVMFFIAnyPayload { v_ptr: handle },
        });
    }
    Some(Reference::Owned)
}
