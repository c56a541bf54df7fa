//! The record of NumPy's arrays, probed on one.

use crate::python::{Owned, attribute, word};
use core::ffi::{c_int, c_void};
use core::ptr::null_mut;
use pyo3_ffi::*;

/// Offset of the pointer to the elements of an array.
pub const DATA: usize = 16;
/// Offset of the number of dimensions, a C `int`.
pub const RANK: usize = 24;
/// Offset of the pointer to the dimensions.
pub const DIMENSIONS: usize = 32;
/// Offset of the pointer to the strides, in bytes.
pub const STRIDES: usize = 40;
/// Offset of the object that owns the memory.
pub const BASE: usize = 48;
/// Offset of the element type.
pub const DESCRIPTOR: usize = 56;
/// Offset of the flags, a C `int`.
pub const FLAGS: usize = 64;
/// Offset of the byte order in an element type, a character.
pub const BYTE_ORDER: usize = 26;
/// Offset of the number of an element type, a C `int`.
pub const TYPE_NUMBER: usize = 28;

/// Returns `numpy.ndarray` if NumPy is imported and its arrays have the expected record; null
/// otherwise.
///
/// # Safety
/// The lock must be held.
pub unsafe fn find() -> *mut PyTypeObject {
    // SAFETY: the objects are alive.
    unsafe {
        let modules = PyImport_GetModuleDict();
        let numpy = PyDict_GetItemString(modules, c"numpy".as_ptr());
        if numpy.is_null() {
            return null_mut();
        }
        let found = probe(numpy);
        PyErr_Clear();
        found.map_or(null_mut(), |class| class.into_raw().cast())
    }
}

/// Probes an array of 2 by 3 elements.
unsafe fn probe(numpy: *mut PyObject) -> Option<Owned> {
    // SAFETY: the objects are alive; each field is compared with what the array says of itself.
    unsafe {
        let class = attribute(numpy, c"ndarray")?;
        let made = PyObject_CallMethod(
            numpy,
            c"ones".as_ptr(),
            c"((ii)s)".as_ptr(),
            2 as c_int,
            3 as c_int,
            c"float32".as_ptr(),
        );
        let array = Owned::from_new(made)?;
        let object = array.as_ptr();
        if Py_TYPE(object) != class.as_ptr().cast() || (*Py_TYPE(object)).tp_basicsize < 72 {
            return None;
        }
        let (rank, flags): (c_int, c_int) = (word(object, RANK), word(object, FLAGS));
        let (dimensions, strides): (*const isize, *const isize) =
            (word(object, DIMENSIONS), word(object, STRIDES));
        let is_array = rank == 2
            && dimensions.read_unaligned() == 2
            && *dimensions.add(1) == 3
            && (*strides, *strides.add(1)) == (12, 4)
            && word::<*mut PyObject>(object, BASE).is_null()
            && flags & 0x501 == 0x501
            && word::<*mut c_void>(object, DATA).cast::<f32>().read() == 1.0;
        let descriptor: *mut PyObject = word(object, DESCRIPTOR);
        let is_element = is_array
            && attribute(object, c"dtype").is_some_and(|dtype| dtype.as_ptr() == descriptor)
            && word::<u8>(descriptor, BYTE_ORDER) == b'='
            && word::<c_int>(descriptor, TYPE_NUMBER) == 11;
        is_element.then_some(class)
    }
}
