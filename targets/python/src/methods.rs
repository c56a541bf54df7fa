//! Methods of Python classes with a fast path: a descriptor that takes the place of a function.
//!
//! A Python function that is a class's `__getitem__` is called by CPython's specialised
//! instructions
//! without the type's slot; a descriptor is not. Attributes such as `__doc__` are the function's.

use crate::python::{Locked, new_ref, new_type, visit_all};
use core::ffi::{CStr, c_int, c_void};
use core::mem::offset_of;
use core::ptr::{addr_of_mut, null_mut};
use pyo3_ffi::*;

/// Does a method's work. Returns `None` if the original has to do it: nothing has happened then.
///
/// # Safety
/// The extension must be active, and the lock held. `method` must be a live descriptor whose
/// `extra` has the type that the function expects, and `items` must point to `count` objects,
/// which the caller must keep alive during the call.
pub type Fast = unsafe fn(
    method: *mut Method,
    items: *const *mut PyObject,
    count: usize,
) -> Option<*mut PyObject>;

/// Does a method's work with keywords, whose names are a tuple, and whose values follow the
/// positional arguments. Returns `None` as `Fast` does.
///
/// # Safety
/// Same requirements as `Fast`; `items` must point to a value for each name, too.
pub type FastByName = unsafe fn(
    method: *mut Method,
    items: *const *mut PyObject,
    positional: usize,
    names: *mut PyObject,
) -> Option<*mut PyObject>;

/// The descriptor.
#[repr(C)]
pub struct Method {
    base: PyObject,
    vectorcall: vectorcallfunc,
    fast: Fast,
    /// The fast path of calls with keywords, if there is one.
    by_name: Option<FastByName>,
    /// The function that the class had.
    pub original: *mut PyObject,
    /// Data of the fast path, such as a function of the library.
    pub extra: *mut PyObject,
    /// The class that the fast path is for; null for several classes.
    pub class: *mut PyTypeObject,
    attributes: *mut PyObject,
}

unsafe extern "C" {
    fn PyMethod_New(function: *mut PyObject, object: *mut PyObject) -> *mut PyObject;
}

/// The type of the descriptors.
static TYPE: Locked<*mut PyTypeObject> = Locked::new();

/// A member of the type that tells CPython an offset.
const fn offset(name: &'static CStr, offset: usize) -> PyMemberDef {
    PyMemberDef {
        name: name.as_ptr(),
        type_code: Py_T_PYSSIZET,
        offset: offset as Py_ssize_t,
        flags: Py_READONLY,
        doc: core::ptr::null(),
    }
}

static mut MEMBERS: [PyMemberDef; 3] = [
    offset(c"__vectorcalloffset__", offset_of!(Method, vectorcall)),
    offset(c"__dictoffset__", offset_of!(Method, attributes)),
    END_OF_MEMBERS,
];

const END_OF_MEMBERS: PyMemberDef = PyMemberDef {
    name: core::ptr::null(),
    type_code: 0,
    offset: 0,
    flags: 0,
    doc: core::ptr::null(),
};

static mut ACCESSORS: [PyGetSetDef; 2] = [
    PyGetSetDef {
        name: c"__dict__".as_ptr(),
        get: Some(PyObject_GenericGetDict),
        set: Some(PyObject_GenericSetDict),
        doc: core::ptr::null(),
        closure: null_mut(),
    },
    PyGetSetDef {
        name: core::ptr::null(),
        get: None,
        set: None,
        doc: core::ptr::null(),
        closure: null_mut(),
    },
];

static mut FUNCTIONS: [PyMethodDef; 2] = [
    PyMethodDef {
        ml_name: c"__reduce__".as_ptr(),
        ml_meth: PyMethodDefPointer { PyCFunction: reduce },
        ml_flags: METH_NOARGS,
        ml_doc: core::ptr::null(),
    },
    PyMethodDef::zeroed(),
];

/// Makes the type. Returns `false` with a Python error.
///
/// # Safety
/// The lock must be held; called once, before `new`.
pub unsafe fn start() -> bool {
    let slot = |slot: c_int, pfunc: *mut c_void| PyType_Slot { slot, pfunc };
    let mut slots = [
        slot(Py_tp_call, PyVectorcall_Call as *mut c_void),
        slot(Py_tp_repr, represent as *mut c_void),
        slot(Py_tp_getattro, attribute as *mut c_void),
        slot(Py_tp_descr_get, bind as *mut c_void),
        slot(Py_tp_traverse, traverse as *mut c_void),
        slot(Py_tp_clear, clear as *mut c_void),
        slot(Py_tp_dealloc, deallocate as *mut c_void),
        slot(Py_tp_members, addr_of_mut!(MEMBERS).cast()),
        slot(Py_tp_methods, addr_of_mut!(FUNCTIONS).cast()),
        slot(Py_tp_getset, addr_of_mut!(ACCESSORS).cast()),
        slot(0, null_mut()),
    ];
    let flags = Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR;
    // SAFETY: the slots have the types that their numbers demand.
    unsafe {
        let class = new_type(c"ferrite_python.Method", size_of::<Method>(), flags, &mut slots);
        TYPE.set(class);
        !class.is_null()
    }
}

/// Makes a descriptor. Returns null with a Python error.
///
/// # Safety
/// The lock must be held, `start` must have succeeded, and the objects must be alive; `extra` must
/// have the type that the path expects, and `class` must be null or a class.
pub unsafe fn new(
    (fast, by_name): (Fast, Option<FastByName>),
    original: *mut PyObject,
    extra: *mut PyObject,
    class: *mut PyObject,
) -> *mut PyObject {
    // SAFETY: the memory has the size of a method, and nothing runs before it is complete.
    unsafe {
        let own = *TYPE.get();
        let Some(allocate) = (*own).tp_alloc else { return null_mut() };
        let object = allocate(own, 0);
        if object.is_null() {
            return object;
        }
        let method: *mut Method = object.cast();
        (*method).vectorcall = call;
        (*method).fast = fast;
        (*method).by_name = by_name;
        (*method).original = new_ref(original);
        (*method).extra = new_ref(extra);
        Py_XINCREF(class);
        (*method).class = class.cast();
        object
    }
}

/// The descriptor's `vectorcall`.
unsafe extern "C" fn call(
    object: *mut PyObject,
    items: *const *mut PyObject,
    count: usize,
    keywords: *mut PyObject,
) -> *mut PyObject {
    let method: *mut Method = object.cast();
    // SAFETY: CPython passes as many items.
    unsafe {
        let positional = PyVectorcall_NARGS(count) as usize;
        let done = if keywords.is_null() {
            ((*method).fast)(method, items, positional)
        } else {
            (*method).by_name.and_then(|by_name| by_name(method, items, positional, keywords))
        };
        if let Some(result) = done {
            return result;
        }
        PyObject_Vectorcall((*method).original, items, count, keywords)
    }
}

/// Slot `tp_descr_get`: binds like a function.
unsafe extern "C" fn bind(
    method: *mut PyObject,
    object: *mut PyObject,
    _: *mut PyObject,
) -> *mut PyObject {
    // SAFETY: CPython passes objects that are alive; null stands for access by the class.
    unsafe {
        if object.is_null() || object == Py_None() {
            new_ref(method)
        } else {
            PyMethod_New(method, object)
        }
    }
}

/// Slot `tp_repr`: that of the original.
unsafe extern "C" fn represent(method: *mut PyObject) -> *mut PyObject {
    // SAFETY: CPython passes a method.
    unsafe { PyObject_Repr((*method.cast::<Method>()).original) }
}

/// Slot `tp_getattro`: an attribute of the method, else one of the original, which needs no copies.
unsafe extern "C" fn attribute(object: *mut PyObject, name: *mut PyObject) -> *mut PyObject {
    // SAFETY: CPython passes a method and a name; the dict is null or alive.
    unsafe {
        let method: *mut Method = object.cast();
        if !(*method).attributes.is_null() {
            let found = PyDict_GetItemWithError((*method).attributes, name);
            if !found.is_null() || !PyErr_Occurred().is_null() {
                return if found.is_null() { found } else { new_ref(found) };
            }
        }
        let is_named = |known: &CStr| {
            PyUnicode_Check(name) != 0
                && PyUnicode_CompareWithASCIIString(name, known.as_ptr()) == 0
        };
        if is_named(c"__wrapped__") {
            return new_ref((*method).original);
        }
        // Each class has these two, too.
        if !is_named(c"__doc__") && !is_named(c"__module__") {
            let found = PyObject_GenericGetAttr(object, name);
            if !found.is_null() || PyErr_ExceptionMatches(PyExc_AttributeError) == 0 {
                return found;
            }
            PyErr_Clear();
        }
        PyObject_GetAttr((*method).original, name)
    }
}

/// The Python method `__reduce__()`: pickled and copied by name, as functions are.
unsafe extern "C" fn reduce(object: *mut PyObject, _: *mut PyObject) -> *mut PyObject {
    // SAFETY: CPython passes a method.
    unsafe { PyObject_GetAttrString(object, c"__qualname__".as_ptr()) }
}

/// The owned objects of a method.
unsafe fn references(object: *mut PyObject) -> [*mut PyObject; 4] {
    let method: *mut Method = object.cast();
    // SAFETY: the object is a method.
    unsafe { [(*method).original, (*method).extra, (*method).class.cast(), (*method).attributes] }
}

unsafe extern "C" fn traverse(
    object: *mut PyObject,
    visit: visitproc,
    argument: *mut c_void,
) -> c_int {
    // SAFETY: the collector passes a method.
    unsafe { visit_all(object, &references(object), visit, argument) }
}

/// Drops the attributes alone: a method without its original could not be called.
unsafe extern "C" fn clear(object: *mut PyObject) -> c_int {
    // SAFETY: the collector passes a method; the reference is dropped after it was taken out.
    unsafe {
        let attributes = core::mem::replace(&mut (*object.cast::<Method>()).attributes, null_mut());
        Py_XDECREF(attributes);
    }
    0
}

unsafe extern "C" fn deallocate(object: *mut PyObject) {
    // SAFETY: nobody else has a reference to the method.
    unsafe {
        let class = Py_TYPE(object);
        PyObject_GC_UnTrack(object.cast());
        for reference in references(object) {
            Py_XDECREF(reference);
        }
        PyObject_GC_Del(object.cast());
        Py_DECREF(class.cast());
    }
}
