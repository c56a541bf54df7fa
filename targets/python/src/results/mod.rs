//! Results: owned values as Python objects.

mod classes;
mod values;

pub use classes::forget as forget_classes;

use crate::exchange;
use crate::python::{Owned, word};
use crate::state::{self, ANY, DL_TENSOR, HANDLE};
use core::ffi::c_void;
use core::ptr::null_mut;
use ferrite_core::abi::{DLPackExchangeAPI, TVMFFIAny, type_index};
use pyo3_ffi::*;

/// Offset of an object's content behind its header.
const CONTENT: usize = 24;

/// Begins with no classes and no names.
///
/// # Safety
/// The lock must be held; called once, before the other functions.
pub unsafe fn start() {
    // SAFETY: as the caller guarantees.
    unsafe {
        classes::start();
        values::start();
    }
}

/// Makes a Python object of an owned value. Returns null with a Python error.
///
/// # Safety
/// The extension must be active, the lock held, and the caller must own the value's reference,
/// which passes to this function.
#[inline(always)]
pub unsafe fn from_owned(value: TVMFFIAny) -> *mut PyObject {
    // SAFETY: the type index says which payload there is.
    unsafe {
        match value.type_index {
            type_index::NONE => {
                Py_INCREF(Py_None());
                Py_None()
            }
            type_index::INT => PyLong_FromLongLong(value.payload.v_int64),
            type_index::FLOAT => PyFloat_FromDouble(value.payload.v_float64),
            type_index::BOOL => PyBool_FromLong((value.payload.v_int64 != 0).into()),
            type_index::SMALL_STR => {
                let size = value.small_str_len as Py_ssize_t;
                PyUnicode_DecodeUTF8(value.payload.v_bytes.as_ptr().cast(), size, core::ptr::null())
            }
            type_index::SMALL_BYTES => {
                let size = value.small_str_len as Py_ssize_t;
                PyBytes_FromStringAndSize(value.payload.v_bytes.as_ptr().cast(), size)
            }
            type_index::TENSOR => tensor(value.payload.v_ptr),
            type_index::STR => values::string(value),
            type_index::BYTES => values::bytes(value),
            type_index::DEVICE => values::device(value),
            type_index::DATA_TYPE => values::data_type(value),
            type_index::OPAQUE_PY_OBJECT => python_object(value.payload.v_ptr),
            index if index >= type_index::STATIC_OBJECT_BEGIN => object(value, index),
            _ => by_upstream(value),
        }
    }
}

/// Makes a Python object of an owned value for a framework: tensors become the framework's.
///
/// # Safety
/// Same requirements as `from_owned`; `api` must be valid.
pub unsafe fn for_framework(value: TVMFFIAny, api: *const DLPackExchangeAPI) -> *mut PyObject {
    // SAFETY: as the caller guarantees.
    unsafe {
        if value.type_index == type_index::TENSOR
            && let Some(object) = exchange::export(value.payload.v_ptr, api)
        {
            return object;
        }
        let object = from_owned(value);
        exchange::tag(object, api);
        object
    }
}

/// Makes a Python object of a borrowed value.
///
/// # Safety
/// The extension must be active, the lock held, and the value valid: an object in it must be alive.
#[inline(always)]
pub unsafe fn from_borrowed(value: TVMFFIAny) -> *mut PyObject {
    // SAFETY: the value's object is alive.
    unsafe {
        if value.type_index >= type_index::STATIC_OBJECT_BEGIN {
            (state::get().library.inc_ref)(value.payload.v_ptr);
        }
        from_owned(value)
    }
}

/// Makes an empty wrapper. Returns null with a Python error.
///
/// # Safety
/// The state must be set, the lock held, and `class` must be a wrapper class.
#[inline(always)]
pub unsafe fn new_wrapper(class: *mut PyTypeObject) -> *mut PyObject {
    // SAFETY: a class that can be instantiated has the slot.
    unsafe {
        let Some(new) = (*class).tp_new else { return not_a_wrapper(null_mut()) };
        let made = new(class, state::get().no_arguments, null_mut());
        if made.is_null() || Py_TYPE(made) == class || is_a(made, state::get().object_base) {
            made
        } else {
            not_a_wrapper(made)
        }
    }
}

/// Returns whether an object is an instance of a class: a `__new__` in Python may return any
/// object.
#[cold]
unsafe fn is_a(object: *mut PyObject, class: *mut PyTypeObject) -> bool {
    // SAFETY: both are alive.
    unsafe { PyType_IsSubtype(Py_TYPE(object), class) != 0 }
}

/// Releases an object that cannot hold an object of the library, and raises an error. Returns null.
#[cold]
unsafe fn not_a_wrapper(made: *mut PyObject) -> *mut PyObject {
    // SAFETY: the object is null or owned.
    unsafe {
        Py_XDECREF(made);
        let message = c"a class that is registered for objects has made another object";
        PyErr_SetString(PyExc_TypeError, message.as_ptr());
        null_mut()
    }
}

/// Wraps an owned object; releases it if there is no memory for the wrapper.
///
/// # Safety
/// The state must be set, the lock held, and `class` must be a wrapper class; the caller must own
/// `handle`, whose reference passes to this function.
#[inline(always)]
pub unsafe fn wrap(class: *mut PyTypeObject, handle: *mut c_void) -> *mut PyObject {
    // SAFETY: the layout of wrappers was probed, and the new wrapper is empty.
    unsafe {
        let wrapper = new_wrapper(class);
        if wrapper.is_null() {
            (state::get().library.dec_ref)(handle);
        } else {
            wrapper.cast::<u8>().add(HANDLE).cast::<*mut c_void>().write(handle);
        }
        wrapper
    }
}

/// Makes a tensor of the class that `_set_class_tensor` has set.
///
/// # Safety
/// The extension must be active, the lock held, and `handle` must be an owned tensor, whose
/// reference passes to this function.
#[inline(always)]
unsafe fn tensor(handle: *mut c_void) -> *mut PyObject {
    // SAFETY: the class derives from `Tensor`, whose layout was probed; the record follows the
    // header.
    unsafe {
        let state = state::get();
        let class: *mut PyTypeObject = PyDict_GetItem(state.names, state.tensor_class_name).cast();
        if class.is_null()
            || PyType_Check(class.cast()) == 0
            || PyType_IsSubtype(class, state.tensor) == 0
        {
            let value = TVMFFIAny {
                type_index: type_index::TENSOR,
                small_str_len: 0,
                payload: ferrite_core::abi::TVMFFIAnyPayload { v_ptr: handle },
            };
            return by_upstream(value);
        }
        let wrapper = wrap(class, handle);
        if !wrapper.is_null() {
            if Py_TYPE(wrapper) != class && !is_a(wrapper, state.tensor) {
                return not_a_wrapper(wrapper);
            }
            let record = wrapper.cast::<u8>().add(DL_TENSOR).cast::<*mut u8>();
            record.write(handle.cast::<u8>().add(CONTENT));
        }
        wrapper
    }
}

/// Returns the Python object in an opaque object, which is released.
///
/// # Safety
/// The state must be set, the lock held, and `handle` must be an owned opaque Python object, whose
/// reference is released.
unsafe fn python_object(handle: *mut c_void) -> *mut PyObject {
    // SAFETY: the Python object's address follows the header, and its reference is taken first.
    unsafe {
        let object: *mut PyObject = word(handle.cast(), CONTENT);
        Py_INCREF(object);
        (state::get().library.dec_ref)(handle);
        object
    }
}

/// Makes a wrapper of an object, of the class that is registered for its type.
///
/// # Safety
/// Same requirements as `from_owned`; the value must be an object of the type `index`.
#[inline(always)]
unsafe fn object(value: TVMFFIAny, index: i32) -> *mut PyObject {
    // SAFETY: as the caller guarantees.
    unsafe {
        match classes::of(index) {
            Some(class) => wrap(class, value.payload.v_ptr),
            None => by_upstream(value),
        }
    }
}

/// Makes a Python object by upstream's conversion.
///
/// # Safety
/// Same requirements as `from_owned`.
#[cold]
unsafe fn by_upstream(value: TVMFFIAny) -> *mut PyObject {
    // SAFETY: the layout of `CAny` was probed: it owns the value, and releases it when it dies.
    unsafe {
        let state = state::get();
        let Some(any) = Owned::from_new(new_wrapper(state.any)) else {
            if value.type_index >= type_index::STATIC_OBJECT_BEGIN {
                (state.library.dec_ref)(value.payload.v_ptr);
            }
            return null_mut();
        };
        any.as_ptr().cast::<u8>().add(ANY).cast::<TVMFFIAny>().write(value);
        PyObject_CallFunctionObjArgs(state.value_of_any, any.as_ptr(), null_mut::<PyObject>())
    }
}
