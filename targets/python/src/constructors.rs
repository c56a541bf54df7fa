//! Constructors: the `__init__` that upstream makes for a class with fields.

use crate::arguments::{Arguments, Values};
use crate::call::NONE;
use crate::errors;
use crate::methods::Method;
use crate::python::{Locked, new_ref, word};
use crate::state::{self, HANDLE};
use core::ffi::c_void;
use core::ptr::null_mut;
use ferrite_core::abi::type_index;
use pyo3_ffi::*;

/// The most arguments of a call with keywords, names included.
const CAPACITY: usize = 16;

/// Upstream's sentinels, and its frames. Owned, never released.
struct Upstream {
    /// The object that comes before keywords.
    keywords: *mut PyObject,
    /// The value of a keyword that is left out.
    missing: *mut PyObject,
    /// The lines of the frames that the constructor of a class declared natively has in a
    /// traceback, innermost first.
    native: *mut PyObject,
    /// The lines of a class declared in Python.
    python: *mut PyObject,
}

static UPSTREAM: Locked<Upstream> = Locked::new();

/// The Python function `constructors(KWARGS, MISSING, native frames, Python frames)`, which must
/// come before any constructor is made.
///
/// # Safety
/// CPython must call it, with the interpreter's lock.
pub unsafe extern "C" fn start(_: *mut PyObject, arguments: *mut PyObject) -> *mut PyObject {
    let mut found: [*mut PyObject; 4] = [null_mut(); 4];
    let [keywords, missing, native, python] = &mut found;
    // SAFETY: the format has four objects, which are kept for ever.
    unsafe {
        let format = c"OOUU".as_ptr();
        if PyArg_ParseTuple(arguments, format, keywords, missing, native, python) == 0 {
            return null_mut();
        }
        for object in found {
            Py_INCREF(object);
        }
        let [keywords, missing, native, python] = found;
        UPSTREAM.set(Upstream { keywords, missing, native, python });
        new_ref(Py_None())
    }
}

/// `__init__` with positional arguments. `extra` is the `__ffi_init__` of `class`, which is
/// declared in Python or natively.
///
/// Subclasses and objects that have a handle already are left to upstream's function. As there,
/// the interpreter's lock is kept.
///
/// # Safety
/// Same requirements as `methods::Fast`; `extra` must be a `Function`, and `start` must have been
/// called.
pub unsafe fn construct<const IS_PYTHON: bool>(
    method: *mut Method,
    items: *const *mut PyObject,
    count: usize,
) -> Option<*mut PyObject> {
    // SAFETY: the first item is the object.
    unsafe {
        if count == 0 { None } else { run::<IS_PYTHON>(method, *items, items.add(1), count - 1) }
    }
}

/// `__init__` with keywords: each becomes a name and a value, behind a sentinel.
///
/// # Safety
/// Same requirements as `methods::FastByName` and `construct`.
pub unsafe fn construct_by_name<const IS_PYTHON: bool>(
    method: *mut Method,
    items: *const *mut PyObject,
    positional: usize,
    names: *mut PyObject,
) -> Option<*mut PyObject> {
    // SAFETY: there is a value for each name; the caller keeps all objects alive.
    unsafe {
        let upstream = UPSTREAM.get();
        let named = PyTuple_GET_SIZE(names) as usize;
        if positional == 0 || positional + 2 * named > CAPACITY {
            return None;
        }
        let mut passed = [null_mut(); CAPACITY];
        let (before, after) = passed.split_at_mut_checked(positional - 1)?;
        core::ptr::copy_nonoverlapping(items.add(1), before.as_mut_ptr(), positional - 1);
        let (sentinel, pairs) = after.split_first_mut()?;
        *sentinel = (*upstream).keywords;
        let mut count = positional;
        let mut pairs = pairs.chunks_exact_mut(2);
        for index in 0..named {
            let name = PyTuple_GET_ITEM(names, index as isize);
            if PyUnicode_CompareWithASCIIString(name, c"self".as_ptr()) == 0 {
                return None;
            }
            let value = *items.add(positional + index);
            if value != (*upstream).missing
                && let [key, place] = pairs.next()?
            {
                (*key, *place) = (name, value);
                count += 2;
            }
        }
        run::<IS_PYTHON>(method, *items, passed.as_ptr(), count)
    }
}

/// Calls the constructor, and gives its object to `object`.
///
/// # Safety
/// Same requirements as `construct`; `items` must point to `count` objects, which the caller must
/// keep alive.
#[inline(always)]
unsafe fn run<const IS_PYTHON: bool>(
    method: *mut Method,
    object: *mut PyObject,
    items: *const *mut PyObject,
    count: usize,
) -> Option<*mut PyObject> {
    // SAFETY: the layout of wrappers was probed.
    unsafe {
        if Py_TYPE(object) != (*method).class {
            return None;
        }
        let place = object.cast::<u8>().add(HANDLE).cast::<*mut c_void>();
        let constructor: *mut c_void = word((*method).extra, HANDLE);
        if !(*place).is_null() || constructor.is_null() {
            return None;
        }
        let mut values = Values::uninit();
        let mut arguments = Arguments::new(&mut values);
        if !arguments.push_all(items, count) {
            return None;
        }
        let (library, mut result) = (&state::get().library, NONE);
        let status = (library.call)(constructor, arguments.as_ptr(), count as i32, &mut result);
        if status != 0 {
            let raised = errors::raise_after(status, errors::Frame::None, arguments);
            let upstream = UPSTREAM.get();
            errors::add_lines(if IS_PYTHON { (*upstream).python } else { (*upstream).native });
            return Some(raised);
        }
        drop(arguments);
        if result.type_index < type_index::STATIC_OBJECT_BEGIN {
            PyErr_SetString(PyExc_TypeError, c"a constructor has returned no object".as_ptr());
            return Some(null_mut());
        }
        // The constructor may have run Python code that initialised the object.
        let former = place.replace(result.payload.v_ptr);
        if !former.is_null() {
            (library.dec_ref)(former);
        }
        Some(new_ref(Py_None()))
    }
}
