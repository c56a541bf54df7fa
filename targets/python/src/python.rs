//! Helpers over the C API of CPython: owned references, and state that the interpreter's lock
//! guards.

use core::cell::UnsafeCell;
use core::ffi::CStr;
use core::mem::MaybeUninit;
use pyo3_ffi::*;

/// An owned reference to a Python object.
pub struct Owned(*mut PyObject);

impl Owned {
    /// Takes over a new reference. Returns `None` for null: a Python error is set.
    ///
    /// # Safety
    /// `object` must be null or a reference that the caller owns; the interpreter's lock must be
    /// held whenever the result is dropped.
    pub unsafe fn from_new(object: *mut PyObject) -> Option<Self> {
        if object.is_null() { None } else { Some(Self(object)) }
    }

    /// Lends the object.
    pub fn as_ptr(&self) -> *mut PyObject {
        self.0
    }

    /// Passes the reference to the caller.
    pub fn into_raw(self) -> *mut PyObject {
        let object = self.0;
        core::mem::forget(self);
        object
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: this owns the reference, and the lock is held by the contract of the
        // constructors.
        unsafe { Py_DECREF(self.0) };
    }
}

/// State of the process that is read and written only with the interpreter's lock held.
pub struct Locked<T>(UnsafeCell<MaybeUninit<T>>);

// SAFETY: every access holds the interpreter's lock, by the contract of `get`.
unsafe impl<T> Sync for Locked<T> {}

impl<T> Locked<T> {
    /// State without a value yet.
    pub const fn new() -> Self {
        Self(UnsafeCell::new(MaybeUninit::uninit()))
    }

    /// Stores the value.
    ///
    /// # Safety
    /// The interpreter's lock must be held, and no reference to the value may be in use.
    pub unsafe fn set(&self, value: T) {
        // SAFETY: the lock excludes other accesses.
        unsafe { (*self.0.get()).write(value) };
    }

    /// Returns a pointer to the value. References made from it must end before Python code runs.
    pub const fn get(&self) -> *mut T {
        self.0.get().cast()
    }
}

/// Returns an attribute of an object; clears the error if there is none.
///
/// # Safety
/// The object must be alive, and the interpreter's lock held.
pub unsafe fn attribute(object: *mut PyObject, name: &CStr) -> Option<Owned> {
    // SAFETY: as the caller guarantees.
    let found = unsafe { Owned::from_new(PyObject_GetAttrString(object, name.as_ptr())) };
    if found.is_none() {
        // SAFETY: the lock is held.
        unsafe { PyErr_Clear() };
    }
    found
}

/// Returns the word at an offset of an object.
///
/// # Safety
/// The object must have a value of that type at the offset, initialised and aligned.
pub unsafe fn word<T: Copy>(object: *mut PyObject, offset: usize) -> T {
    // SAFETY: as the caller guarantees.
    unsafe { object.cast::<u8>().add(offset).cast::<T>().read() }
}

/// Returns a new reference to an object.
///
/// # Safety
/// The object must be alive, and the interpreter's lock held.
#[inline(always)]
pub unsafe fn new_ref(object: *mut PyObject) -> *mut PyObject {
    // SAFETY: as the caller guarantees.
    unsafe { Py_INCREF(object) };
    object
}
