//! Iterators over the keys, values or items of Map and Dict. As with upstream's generators, the
//! size is read at the first item, and an item is passed when the next one is asked for.

use super::maps;
use crate::call::{self, NONE};
use crate::methods::Method;
use crate::python::{Locked, Owned, attribute, new_iterator_type, new_ref, visit_all, word};
use crate::state::{self, HANDLE};
use crate::{errors, results};
use core::ffi::{c_int, c_void};
use core::ptr::null_mut;
use ferrite_core::abi::{TVMFFIAny, TVMFFIAnyPayload, type_index};
use pyo3_ffi::*;

/// The parts of an entry that an iterator returns.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Key,
    Value,
    Item,
}

/// The argument of the library's iterator that returns the key.
const KEY: i64 = 0;
/// The argument that returns the value.
const VALUE: i64 = 1;
/// The argument that goes to the next entry, and returns whether there is one.
const ADVANCE: i64 = 2;

/// The iterator.
#[repr(C)]
struct MapIterator {
    base: PyObject,
    /// The map; null after the last item.
    map: *mut PyObject,
    /// The `Function` that makes the library's iterator of the map.
    getter: *mut PyObject,
    /// The library's iterator, a `Function`; null before the first item.
    entries: *mut PyObject,
    /// The number of entries that are left.
    remaining: u64,
    part: Part,
    /// Whether `next` runs, which may run Python code that asks for an item.
    is_running: bool,
}

static TYPE: Locked<*mut PyTypeObject> = Locked::new();

/// Makes the type. Returns `false` with a Python error.
///
/// # Safety
/// The lock must be held; called once, before any iterator is made.
pub(super) unsafe fn start() -> bool {
    // SAFETY: the functions are those of this type.
    unsafe {
        let (name, size) = (c"ferrite_python.MapIterator", size_of::<MapIterator>());
        let class = new_iterator_type(name, size, next, traverse, deallocate);
        TYPE.set(class);
        !class.is_null()
    }
}

/// `__iter__` of Map and Dict; `extra` is the library's function that makes iterators.
///
/// # Safety
/// Same requirements as `methods::Fast`.
pub unsafe fn of_map(
    method: *mut Method,
    items: *const *mut PyObject,
    count: usize,
) -> Option<*mut PyObject> {
    // SAFETY: there is one item.
    unsafe { if count == 1 { new(*items, (*method).extra, Part::Key) } else { None } }
}

/// `__iter__` of the view of keys.
///
/// # Safety
/// Same requirements as `methods::Fast`.
pub unsafe fn of_keys(
    _: *mut Method,
    items: *const *mut PyObject,
    count: usize,
) -> Option<*mut PyObject> {
    // SAFETY: as the caller guarantees.
    unsafe { of_view(items, count, Part::Key) }
}

/// `__iter__` of the view of values.
///
/// # Safety
/// Same requirements as `methods::Fast`.
pub unsafe fn of_values(
    _: *mut Method,
    items: *const *mut PyObject,
    count: usize,
) -> Option<*mut PyObject> {
    // SAFETY: as the caller guarantees.
    unsafe { of_view(items, count, Part::Value) }
}

/// `__iter__` of the view of items.
///
/// # Safety
/// Same requirements as `methods::Fast`.
pub unsafe fn of_items(
    _: *mut Method,
    items: *const *mut PyObject,
    count: usize,
) -> Option<*mut PyObject> {
    // SAFETY: as the caller guarantees.
    unsafe { of_view(items, count, Part::Item) }
}

/// Makes an iterator of a view: of the map and the function that it keeps.
///
/// # Safety
/// Same requirements as `methods::Fast`.
unsafe fn of_view(items: *const *mut PyObject, count: usize, part: Part) -> Option<*mut PyObject> {
    // SAFETY: there is one item, a view; its attributes are retained.
    unsafe {
        if count != 1 {
            return None;
        }
        let map = attribute(*items, c"_backend_map")?;
        let getter = attribute(*items, c"_iter_functor_getter")?;
        new(map.as_ptr(), getter.as_ptr(), part)
    }
}

/// Makes an iterator, or null with a Python error. Returns `None` if upstream's code has to do it.
///
/// # Safety
/// The extension must be active, the lock held, and the objects alive.
unsafe fn new(map: *mut PyObject, getter: *mut PyObject, part: Part) -> Option<*mut PyObject> {
    // SAFETY: the memory has the size of an iterator, and is zero.
    unsafe {
        maps::map(map)?;
        if Py_TYPE(getter) != state::get().function {
            return None;
        }
        let class = *TYPE.get();
        let object = ((*class).tp_alloc?)(class, 0);
        if !object.is_null() {
            let iterator: *mut MapIterator = object.cast();
            (*iterator).map = new_ref(map);
            (*iterator).getter = new_ref(getter);
            (*iterator).part = part;
        }
        Some(object)
    }
}

/// Slot `tp_iternext`.
unsafe extern "C" fn next(object: *mut PyObject) -> *mut PyObject {
    let iterator: *mut MapIterator = object.cast();
    // SAFETY: the iterator owns its objects.
    unsafe {
        if (*iterator).map.is_null() {
            return null_mut();
        }
        if core::mem::replace(&mut (*iterator).is_running, true) {
            PyErr_SetString(PyExc_ValueError, c"generator already executing".as_ptr());
            return null_mut();
        }
        let found = match proceed(iterator) {
            Some(true) => current(iterator),
            _ => null_mut(),
        };
        (*iterator).is_running = false;
        if found.is_null() {
            finish(iterator);
        }
        found
    }
}

/// Goes to the next entry. Returns whether there is one; `None` with a Python error.
///
/// # Safety
/// The extension must be active, the lock held, and the iterator alive and not at its end.
unsafe fn proceed(iterator: *mut MapIterator) -> Option<bool> {
    // SAFETY: the iterator owns its objects; the map is a Map or Dict.
    unsafe {
        if (*iterator).entries.is_null() {
            let (map, getter) = ((*iterator).map, (*iterator).getter);
            (*iterator).remaining = size(map)?;
            let made = call::invoke(getter, &map, 1).unwrap_or_else(|| {
                PyObject_CallFunctionObjArgs(getter, map, null_mut::<PyObject>())
            });
            let entries = Owned::from_new(made)?;
            if Py_TYPE(entries.as_ptr()) != state::get().function {
                PyErr_SetString(PyExc_TypeError, c"a map has no iterator".as_ptr());
                return None;
            }
            (*iterator).entries = entries.into_raw();
        } else if !is_true(&ask(iterator, ADVANCE)?) {
            return Some(false);
        }
        let has_more = (*iterator).remaining != 0;
        (*iterator).remaining = (*iterator).remaining.wrapping_sub(1);
        Some(has_more)
    }
}

/// Returns the number of entries; `None` with a Python error.
///
/// # Safety
/// The extension must be active, the lock held, and `map` alive.
unsafe fn size(map: *mut PyObject) -> Option<u64> {
    // SAFETY: as the caller guarantees.
    unsafe {
        match maps::map(map) {
            Some(cell) => Some((*cell).size),
            // Upstream's `__len__` would read the object.
            None if word::<*mut c_void>(map, HANDLE).is_null() => {
                PyErr_SetString(PyExc_ValueError, c"the map was moved".as_ptr());
                None
            }
            None => u64::try_from(PyObject_Size(map)).ok(),
        }
    }
}

/// Returns whether an answer of the library is true: it is a boolean or an integer.
fn is_true(value: &TVMFFIAny) -> bool {
    // SAFETY: every payload can be read as a number.
    unsafe { value.payload.v_int64 != 0 }
}

/// Returns what the iterator returns of the current entry; null with a Python error.
///
/// # Safety
/// Same requirements as `proceed`, which must have returned that there is an entry.
unsafe fn current(iterator: *mut MapIterator) -> *mut PyObject {
    let object = |question: i64| -> Option<Owned> {
        // SAFETY: as the caller guarantees; the answer is owned.
        unsafe { Owned::from_new(results::from_owned(ask(iterator, question)?)) }
    };
    // SAFETY: the iterator is alive; the tuple takes over its items.
    let found = unsafe {
        match (*iterator).part {
            Part::Key => object(KEY),
            Part::Value => object(VALUE),
            Part::Item => object(KEY).and_then(|key| {
                let value = object(VALUE)?;
                let item = Owned::from_new(PyTuple_New(2))?;
                PyTuple_SET_ITEM(item.as_ptr(), 0, key.into_raw());
                PyTuple_SET_ITEM(item.as_ptr(), 1, value.into_raw());
                Some(item)
            }),
        }
    };
    found.map_or(null_mut(), Owned::into_raw)
}

/// Calls the library's iterator. Returns an owned value; `None` with a Python error.
///
/// # Safety
/// Same requirements as `proceed`; the library's iterator must have been made.
unsafe fn ask(iterator: *mut MapIterator, question: i64) -> Option<TVMFFIAny> {
    let argument = TVMFFIAny {
        type_index: type_index::INT,
        small_str_len: 0,
        payload: TVMFFIAnyPayload { v_int64: question },
    };
    // SAFETY: the iterator owns the function, whose handle is at the probed offset.
    unsafe {
        let entries = Owned::borrowed((*iterator).entries);
        let (handle, mut result) = (word::<*mut c_void>(entries.as_ptr(), HANDLE), NONE);
        let status = (state::get().library.call)(handle, &argument, 1, &mut result);
        if status != 0 {
            errors::raise(status, errors::Frame::Call);
            return None;
        }
        Some(result)
    }
}

/// Releases the objects of an iterator that has ended.
///
/// # Safety
/// The lock must be held, and the iterator alive.
unsafe fn finish(iterator: *mut MapIterator) {
    // SAFETY: the references are released after they were taken out.
    unsafe {
        for reference in references(iterator) {
            Py_XDECREF(core::mem::replace(&mut *reference, null_mut()));
        }
    }
}

/// Returns the places of the objects that an iterator owns.
unsafe fn references(iterator: *mut MapIterator) -> [*mut *mut PyObject; 3] {
    // SAFETY: the object is an iterator.
    unsafe { [&raw mut (*iterator).map, &raw mut (*iterator).getter, &raw mut (*iterator).entries] }
}

unsafe extern "C" fn traverse(
    object: *mut PyObject,
    visit: visitproc,
    argument: *mut c_void,
) -> c_int {
    // SAFETY: the collector passes an iterator.
    unsafe {
        let owned = references(object.cast()).map(|reference| *reference);
        visit_all(object, &owned, visit, argument)
    }
}

unsafe extern "C" fn deallocate(object: *mut PyObject) {
    // SAFETY: nobody else has a reference to the iterator.
    unsafe {
        let class = Py_TYPE(object);
        PyObject_GC_UnTrack(object.cast());
        finish(object.cast());
        PyObject_GC_Del(object.cast());
        Py_DECREF(class.cast());
    }
}
