//! Helpers over the C API of CPython: owned references, and state that the interpreter's lock
//! guards.

use core::cell::UnsafeCell;
use core::ffi::{CStr, c_int, c_uint, c_void};
use core::mem::MaybeUninit;
use core::ptr::null_mut;
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

    /// Retains an object.
    ///
    /// # Safety
    /// `object` must be alive; the interpreter's lock must be held, also whenever the result is
    /// dropped.
    #[inline(always)]
    pub unsafe fn borrowed(object: *mut PyObject) -> Self {
        // SAFETY: as the caller guarantees.
        unsafe { Py_INCREF(object) };
        Self(object)
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

impl<T, const N: usize> Locked<[T; N]> {
    /// Returns a pointer to an element, whose index is taken modulo the length.
    pub const fn element(&self, index: usize) -> *mut T {
        const { assert!(N.is_power_of_two()) };
        self.get().cast::<T>().wrapping_add(index & (N - 1))
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

/// Returns the offset of an attribute that is a slot holding an object; 0 if it is none.
///
/// # Safety
/// The class must be alive, and the interpreter's lock held.
pub unsafe fn slot_offset(class: *mut PyTypeObject, name: &CStr) -> usize {
    /// A descriptor of a slot: the object, its class, name and qualified name, and the definition.
    const DEFINITION: usize = 40;
    // SAFETY: a descriptor of this type has its definition there.
    unsafe {
        let Some(descriptor) = attribute(class.cast(), name) else { return 0 };
        if Py_TYPE(descriptor.as_ptr()) != &raw mut PyMemberDescr_Type {
            return 0;
        }
        let definition: *const PyMemberDef = word(descriptor.as_ptr(), DEFINITION);
        // T_OBJECT_EX
        if (*definition).type_code != 16 { 0 } else { (*definition).offset as usize }
    }
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

/// Makes a type that only this extension instantiates. Returns null with a Python error.
///
/// # Safety
/// The lock must be held. The slots must have the types that their numbers demand, end with zero,
/// and fit instances of `size` bytes that the collector tracks.
pub unsafe fn new_type(
    name: &'static CStr,
    size: usize,
    flags: core::ffi::c_ulong,
    slots: &mut [PyType_Slot],
) -> *mut PyTypeObject {
    let mut spec = PyType_Spec {
        name: name.as_ptr(),
        basicsize: size as c_int,
        itemsize: 0,
        flags: (Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | flags) as c_uint,
        slots: slots.as_mut_ptr(),
    };
    // SAFETY: as the caller guarantees; nobody else knows the new type.
    unsafe {
        let class: *mut PyTypeObject = PyType_FromSpec(&mut spec).cast();
        if !class.is_null() {
            // An instance made by Python code would have no content.
            (*class).tp_new = None;
            PyType_Modified(class);
        }
        class
    }
}

/// Makes the type of an iterator. Returns null with a Python error.
///
/// # Safety
/// The lock must be held; the functions must be for instances of `size` bytes that the collector
/// tracks.
pub unsafe fn new_iterator_type(
    name: &'static CStr,
    size: usize,
    next: iternextfunc,
    traverse: traverseproc,
    deallocate: destructor,
) -> *mut PyTypeObject {
    let slot = |slot: c_int, pfunc: *mut c_void| PyType_Slot { slot, pfunc };
    let mut slots = [
        slot(Py_tp_iter, PyObject_SelfIter as *mut c_void),
        slot(Py_tp_iternext, next as *mut c_void),
        slot(Py_tp_traverse, traverse as *mut c_void),
        slot(Py_tp_dealloc, deallocate as *mut c_void),
        slot(0, null_mut()),
    ];
    // SAFETY: as the caller guarantees; the slots have the types that their numbers demand.
    unsafe { new_type(name, size, 0, &mut slots) }
}

/// Shows an object's references and its type to the collector: the work of `tp_traverse`.
///
/// # Safety
/// The collector must have called `tp_traverse` of a type of `new_type` with these arguments; the
/// references must be null or alive.
pub unsafe fn visit_all(
    object: *mut PyObject,
    references: &[*mut PyObject],
    visit: visitproc,
    argument: *mut c_void,
) -> c_int {
    // SAFETY: the object is alive.
    let class: *mut PyObject = unsafe { Py_TYPE(object) }.cast();
    for reference in references.iter().chain([&class]).filter(|reference| !reference.is_null()) {
        // SAFETY: as the caller guarantees.
        let status = unsafe { visit(*reference, argument) };
        if status != 0 {
            return status;
        }
    }
    0
}
