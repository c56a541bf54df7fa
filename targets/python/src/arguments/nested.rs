//! Lists, tuples and dicts: an Array or Map of their elements, by the library's constructor.

use super::{Reference, array, convert};
use crate::call::NONE;
use crate::python::Locked;
use crate::state;
use core::ffi::c_void;
use core::ptr::null_mut;
use ferrite_core::abi::{TVMFFIAny, TVMFFIByteArray, TVMFFIObjectHandle};
use pyo3_ffi::*;

/// The constructors `ffi.Array` and `ffi.Map`; null if the library lacks one. Owned.
struct Constructors {
    array: TVMFFIObjectHandle,
    map: TVMFFIObjectHandle,
}

static CONSTRUCTORS: Locked<Constructors> = Locked::new();

/// Looks up the constructors.
///
/// # Safety
/// The state must be set, and the lock held; called once, before any conversion.
pub unsafe fn start() {
    // SAFETY: the library writes a handle or leaves null.
    unsafe {
        let look_up = |name: &[u8]| {
            let mut handle = null_mut();
            let status =
                (state::get().library.global)(&TVMFFIByteArray::from_slice(name), &mut handle);
            if status == 0 { handle } else { null_mut() }
        };
        CONSTRUCTORS.set(Constructors { array: look_up(b"ffi.Array"), map: look_up(b"ffi.Map") });
    }
}

/// Converts a list.
///
/// # Safety
/// The extension must be active, the lock held, and `object` must be a list; `out` must be valid
/// for writes.
pub unsafe fn list(object: *mut PyObject, out: *mut TVMFFIAny) -> Option<Reference> {
    // SAFETY: converting elements runs no Python code that could change the list.
    unsafe {
        let list: *mut PyListObject = object.cast();
        array_of((*list).ob_item, PyList_GET_SIZE(object) as usize, out)
    }
}

/// Converts a tuple.
///
/// # Safety
/// The extension must be active, the lock held, and `object` must be a tuple; `out` must be valid
/// for writes.
pub unsafe fn tuple(object: *mut PyObject, out: *mut TVMFFIAny) -> Option<Reference> {
    // SAFETY: a tuple has as many items.
    unsafe {
        let items = (&raw mut (*object.cast::<PyTupleObject>()).ob_item).cast();
        array_of(items, PyTuple_GET_SIZE(object) as usize, out)
    }
}

/// Makes an Array of objects.
unsafe fn array_of(
    items: *const *mut PyObject,
    count: usize,
    out: *mut TVMFFIAny,
) -> Option<Reference> {
    // SAFETY: as the callers guarantee.
    unsafe {
        construct((*CONSTRUCTORS.get()).array, (0..count).map(|index| *items.add(index)), out)
    }
}

/// Converts a dict.
///
/// # Safety
/// The extension must be active, the lock held, and `object` must be a dict; `out` must be valid
/// for writes.
pub unsafe fn dict(object: *mut PyObject, out: *mut TVMFFIAny) -> Option<Reference> {
    let mut position: Py_ssize_t = 0;
    let mut pending: *mut PyObject = null_mut();
    // Keys and values in turn.
    let items = core::iter::from_fn(|| {
        if !pending.is_null() {
            return Some(core::mem::replace(&mut pending, null_mut()));
        }
        let mut key = null_mut();
        // SAFETY: converting elements runs no Python code that could change the dict.
        let is_entry = unsafe { PyDict_Next(object, &mut position, &mut key, &mut pending) } != 0;
        is_entry.then_some(key)
    });
    // SAFETY: as the caller guarantees.
    unsafe { construct((*CONSTRUCTORS.get()).map, items, out) }
}

/// Values of elements, and the owned ones among them.
struct Elements {
    values: Vec<TVMFFIAny>,
    owned: Vec<(*mut c_void, Reference)>,
}

impl Drop for Elements {
    fn drop(&mut self) {
        for (object, reference) in self.owned.drain(..) {
            // SAFETY: the lock is held while elements are converted, and they own these objects.
            unsafe { release(object, reference) };
        }
    }
}

/// Releases the object of an element.
///
/// # Safety
/// The extension must be active, the lock held, and the caller must own the object, as `reference`
/// says.
unsafe fn release(object: *mut c_void, reference: Reference) {
    // SAFETY: as the caller guarantees.
    unsafe {
        match reference {
            Reference::Borrowed => {}
            Reference::Array => array::release(object),
            Reference::Owned | Reference::Foreign(_) => {
                (state::get().library.dec_ref)(object);
            }
        }
    }
}

/// Calls a constructor with elements. Returns `None` if an element has no fast conversion, or on a
/// failure, which upstream's conversion reports.
unsafe fn construct(
    constructor: TVMFFIObjectHandle,
    items: impl Iterator<Item = *mut PyObject>,
    out: *mut TVMFFIAny,
) -> Option<Reference> {
    // SAFETY: the lock is held; the elements outlive the call.
    unsafe {
        if constructor.is_null()
            || Py_EnterRecursiveCall(c" while converting an argument".as_ptr()) != 0
        {
            PyErr_Clear();
            return None;
        }
        let elements = collect(items);
        Py_LeaveRecursiveCall();
        let elements = elements?;
        let mut result = NONE;
        let count = i32::try_from(elements.values.len()).ok()?;
        let library = &state::get().library;
        if (library.call)(constructor, elements.values.as_ptr(), count, &mut result) != 0 {
            let mut error = null_mut();
            (library.move_raised)(&mut error);
            if !error.is_null() {
                (library.dec_ref)(error);
            }
            return None;
        }
        out.write(result);
    }
    Some(Reference::Owned)
}

/// Converts elements.
unsafe fn collect(items: impl Iterator<Item = *mut PyObject>) -> Option<Elements> {
    let mut elements = Elements { values: Vec::new(), owned: Vec::new() };
    elements.values.try_reserve_exact(items.size_hint().0).ok()?;
    for item in items {
        // Without memory, upstream's conversion raises the error.
        elements.values.try_reserve(1).ok()?;
        let mut value = NONE;
        // SAFETY: the element is alive.
        let reference = unsafe { convert(item, &mut value)? };
        elements.values.push(value);
        let is_foreign = matches!(reference, Reference::Foreign(_));
        if !matches!(reference, Reference::Borrowed) {
            // SAFETY: an owned value has an object.
            let object = unsafe { value.payload.v_ptr };
            if elements.owned.try_reserve(1).is_err() {
                // SAFETY: the element owns its object.
                unsafe { release(object, reference) };
                return None;
            }
            elements.owned.push((object, reference));
        }
        if is_foreign {
            // The call would have to follow the framework: upstream's conversion does.
            return None;
        }
    }
    Some(elements)
}
