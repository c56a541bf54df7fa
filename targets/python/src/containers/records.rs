//! Records of containers: their classes, contents and elements.

use crate::python::{Locked, word};
use crate::results;
use crate::state::{EXCHANGE_API, HANDLE};
use core::ffi::c_void;
use ferrite_core::abi::{TVMFFIAny, TVMFFISeqCell};
use pyo3_ffi::*;

/// Offset of a container's content behind the header of its object.
const CONTENT: usize = 24;

/// The classes of sequences and maps, and upstream's function for items of lists. Owned.
pub(super) struct Classes {
    /// `Array`.
    pub array: *mut PyTypeObject,
    /// `List`.
    pub list: *mut PyTypeObject,
    /// `Map`.
    pub map: *mut PyTypeObject,
    /// `Dict`.
    pub dict: *mut PyTypeObject,
    /// `_ffi_api.ListGetItem`, which raises the error of an index.
    pub list_item: *mut PyObject,
    /// `core.MISSING`.
    pub missing: *mut PyObject,
}

static CLASSES: Locked<Classes> = Locked::new();

/// Stores the classes.
///
/// # Safety
/// The lock must be held; called once, before the other functions. The objects must be owned, and
/// are never released.
pub(super) unsafe fn set_classes(classes: Classes) {
    // SAFETY: as the caller guarantees.
    unsafe { CLASSES.set(classes) };
}

/// Returns the classes.
///
/// # Safety
/// `set_classes` must have been called.
pub(super) unsafe fn classes() -> &'static Classes {
    // SAFETY: `set_classes` came first; the classes do not change afterwards.
    unsafe { &*CLASSES.get() }
}

/// Returns the content of a container that can be read in place.
///
/// # Safety
/// `object` must be a live instance of a container class, and the state must be set.
#[inline(always)]
pub(super) unsafe fn content(object: *mut PyObject) -> Option<*mut c_void> {
    // SAFETY: the layout of containers was probed.
    unsafe {
        let handle: *mut c_void = word(object, HANDLE);
        let converts = !word::<*mut c_void>(object, EXCHANGE_API).is_null();
        if handle.is_null() || converts {
            None
        } else {
            Some(handle.cast::<u8>().add(CONTENT).cast())
        }
    }
}

/// Returns the record of an Array or List that can be read in place.
///
/// # Safety
/// `object` must be alive, and `set_classes` must have been called.
#[inline(always)]
pub(super) unsafe fn sequence(object: *mut PyObject) -> Option<*mut TVMFFISeqCell> {
    // SAFETY: instances of these classes are sequences.
    unsafe {
        let class = Py_TYPE(object);
        if class != classes().array && class != classes().list {
            return None;
        }
        content(object).map(<*mut c_void>::cast)
    }
}

/// Returns an element of a sequence.
///
/// # Safety
/// The extension must be active, the lock held, and `cell` must be the record of a live sequence;
/// `index` must be below its size.
#[inline(always)]
pub(super) unsafe fn element(cell: *mut TVMFFISeqCell, index: usize) -> *mut PyObject {
    // SAFETY: as the caller guarantees; the element is retained before Python code runs.
    unsafe { results::from_borrowed((*cell).data.cast::<TVMFFIAny>().add(index).read()) }
}
