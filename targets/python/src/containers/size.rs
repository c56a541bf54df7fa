//! Length and truth of all containers.

use super::maps;
use super::records::sequence;
use crate::methods::Method;
use pyo3_ffi::*;

/// `__len__` of each container.
///
/// # Safety
/// Same requirements as `methods::Fast`.
pub unsafe fn length(
    _: *mut Method,
    items: *const *mut PyObject,
    count: usize,
) -> Option<*mut PyObject> {
    // SAFETY: as the caller guarantees.
    unsafe { only_size(items, count).map(|size| PyLong_FromLongLong(size)) }
}

/// `__bool__` of each container.
///
/// # Safety
/// Same requirements as `methods::Fast`.
pub unsafe fn truth(
    _: *mut Method,
    items: *const *mut PyObject,
    count: usize,
) -> Option<*mut PyObject> {
    // SAFETY: as the caller guarantees.
    unsafe { only_size(items, count).map(|size| PyBool_FromLong((size > 0).into())) }
}

/// Returns the number of elements of the only item, if that is a container that can be read in
/// place.
///
/// # Safety
/// `items` must point to `count` live objects, and `start` must have been called.
#[inline(always)]
unsafe fn only_size(items: *const *mut PyObject, count: usize) -> Option<i64> {
    if count != 1 {
        return None;
    }
    // SAFETY: there is an item, as the caller guarantees.
    unsafe {
        match sequence(*items) {
            Some(cell) => Some((*cell).size),
            None => maps::map(*items).map(|cell| (*cell).size as i64),
        }
    }
}
