//! Results that upstream makes of value classes: strings, bytes, devices and data types.

use super::{by_upstream, classes, new_wrapper, wrap};
use crate::python::{Locked, Owned, word};
use crate::state::{self, ANY};
use core::ptr::null_mut;
use ferrite_core::abi::{TVMFFIAny, TVMFFIByteArray, type_index};
use pyo3_ffi::*;

/// Offset of an object's content behind its header.
const CONTENT: usize = 24;

/// Makes a `String`, which keeps the string object.
///
/// # Safety
/// Same requirements as `from_owned`; the value must be a string object.
pub(super) unsafe fn string(value: TVMFFIAny) -> *mut PyObject {
    // SAFETY: the object has a byte array behind its header; `String` has a slot for the wrapper.
    unsafe {
        let state = state::get();
        if state.cached_object == 0 || !classes::is_registered(type_index::STR, state.string) {
            return by_upstream(value);
        }
        let handle = value.payload.v_ptr;
        let Some(wrapper) = Owned::from_new(wrap(state.object, handle)) else { return null_mut() };
        let content: TVMFFIByteArray = word(handle.cast(), CONTENT);
        let text =
            PyUnicode_DecodeUTF8(content.data, content.size as Py_ssize_t, core::ptr::null());
        let made = derived(&raw mut PyUnicode_Type, state.string, text);
        if !made.is_null() {
            let slot = made.cast::<u8>().add(state.cached_object).cast::<*mut PyObject>();
            slot.write(wrapper.into_raw());
        }
        made
    }
}

/// Makes a `Bytes`, which keeps the object as an attribute.
///
/// # Safety
/// Same requirements as `from_owned`; the value must be a bytes object.
pub(super) unsafe fn bytes(value: TVMFFIAny) -> *mut PyObject {
    // SAFETY: the object has a byte array behind its header.
    unsafe {
        let state = state::get();
        if !classes::is_registered(type_index::BYTES, state.bytes) {
            return by_upstream(value);
        }
        let handle = value.payload.v_ptr;
        let Some(wrapper) = Owned::from_new(wrap(state.object, handle)) else { return null_mut() };
        let content: TVMFFIByteArray = word(handle.cast(), CONTENT);
        let copy = PyBytes_FromStringAndSize(content.data, content.size as Py_ssize_t);
        let made = derived(&raw mut PyBytes_Type, state.bytes, copy);
        with_attribute(made, state.cached_object_name, wrapper.as_ptr())
    }
}

/// Makes a device of the class that `_set_class_device` has set.
///
/// # Safety
/// Same requirements as `from_owned`; the value must be a device.
pub(super) unsafe fn device(value: TVMFFIAny) -> *mut PyObject {
    // SAFETY: the class derives from `Device`, whose record is the only field.
    unsafe {
        let state = state::get();
        let class: *mut PyTypeObject = PyDict_GetItem(state.names, state.device_class_name).cast();
        if class.is_null() || state.device.is_null() || !is_class_under(class, state.device) {
            return by_upstream(value);
        }
        let made = new_wrapper(class);
        if !made.is_null() && Py_TYPE(made) == class {
            made.cast::<u8>().add(ANY).cast::<u64>().write(value.payload.v_uint64);
        }
        made
    }
}

/// The last data types, and their names as strings; owned, or null.
static NAMES: Locked<[(u32, *mut PyObject); 8]> = Locked::new();

/// Begins without names of data types.
///
/// # Safety
/// The lock must be held; called once, before `data_type`.
pub(super) unsafe fn start() {
    // SAFETY: as the caller guarantees.
    unsafe { NAMES.set([(0, null_mut()); 8]) };
}

/// Makes a data type of the class that `_set_class_dtype` has set: a string that keeps a
/// `DataType`.
///
/// # Safety
/// Same requirements as `from_owned`; the value must be a data type.
pub(super) unsafe fn data_type(value: TVMFFIAny) -> *mut PyObject {
    // SAFETY: the record is the only field of `DataType`.
    unsafe {
        let state = state::get();
        let class: *mut PyTypeObject =
            PyDict_GetItem(state.names, state.data_type_class_name).cast();
        if class.is_null()
            || state.data_type.is_null()
            || !is_class_under(class, &raw mut PyUnicode_Type)
        {
            return by_upstream(value);
        }
        let Some(record) = Owned::from_new(new_wrapper(state.data_type)) else {
            return null_mut();
        };
        record.as_ptr().cast::<u8>().add(ANY).cast::<u64>().write(value.payload.v_uint64);
        let name = data_type_name(value.payload.v_uint64 as u32, &record);
        let made = derived(&raw mut PyUnicode_Type, class, name);
        with_attribute(made, state.data_type_name, record.as_ptr())
    }
}

/// Returns the name of a data type as a new reference; null with a Python error.
///
/// # Safety
/// The extension must be active, the lock held, and `record` must be the `DataType` of `bits`.
unsafe fn data_type_name(bits: u32, record: &Owned) -> *mut PyObject {
    // SAFETY: the lock guards the list; a string runs no Python code when it is released.
    unsafe {
        let entry = NAMES.element((bits ^ (bits >> 8) ^ (bits >> 11)) as usize);
        let (known, name) = *entry;
        if known == bits && !name.is_null() {
            Py_INCREF(name);
            return name;
        }
        let name = PyObject_Str(record.as_ptr());
        if !name.is_null() {
            Py_INCREF(name);
            let (_, former) = core::mem::replace(&mut *entry, (bits, name));
            Py_XDECREF(former);
        }
        name
    }
}

/// Returns whether an object is a class that derives from another one.
///
/// # Safety
/// The lock must be held, and the objects alive.
unsafe fn is_class_under(class: *mut PyTypeObject, base: *mut PyTypeObject) -> bool {
    // SAFETY: as the caller guarantees.
    unsafe { PyType_Check(class.cast()) != 0 && PyType_IsSubtype(class, base) != 0 }
}

/// Makes an instance of a class derived from a builtin one, without calling Python code of it.
///
/// # Safety
/// The lock must be held; `class` must derive from `base`, and `content` must be null, with a
/// Python error, or an owned instance of `base`, whose reference is released.
unsafe fn derived(
    base: *mut PyTypeObject,
    class: *mut PyTypeObject,
    content: *mut PyObject,
) -> *mut PyObject {
    // SAFETY: the tuple takes over the content.
    unsafe {
        let Some(content) = Owned::from_new(content) else { return null_mut() };
        let Some(arguments) = Owned::from_new(PyTuple_New(1)) else { return null_mut() };
        PyTuple_SET_ITEM(arguments.as_ptr(), 0, content.into_raw());
        match (*base).tp_new {
            Some(new) => new(class, arguments.as_ptr(), null_mut()),
            None => null_mut(),
        }
    }
}

/// Sets an attribute of a new object; releases the object, and returns null, on an error.
///
/// # Safety
/// The lock must be held; `object` must be null, with a Python error, or owned.
unsafe fn with_attribute(
    object: *mut PyObject,
    name: *mut PyObject,
    value: *mut PyObject,
) -> *mut PyObject {
    // SAFETY: as the caller guarantees.
    unsafe {
        let Some(object) = Owned::from_new(object) else { return null_mut() };
        let status = PyObject_SetAttr(object.as_ptr(), name, value);
        if status == 0 { object.into_raw() } else { null_mut() }
    }
}
