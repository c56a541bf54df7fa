//! Data types: `DataType`, and the class of strings that has one in a slot.

use crate::python::{Locked, slot_offset, word};
use crate::state::{self, ANY};
use ferrite_core::abi::{TVMFFIAny, TVMFFIAnyPayload, type_index};
use pyo3_ffi::*;

/// Offset of the slot `_tvm_ffi_dtype`; 0 before the class was seen.
static SLOT: Locked<usize> = Locked::new();

/// Begins without a class.
///
/// # Safety
/// The lock must be held; called once, before the other functions.
pub(super) unsafe fn start() {
    // SAFETY: as the caller guarantees.
    unsafe { SLOT.set(0) };
}

/// Returns whether a class is the one that `_set_class_dtype` has set, with its slot. Remembers
/// the slot of the first such class: another one is left to upstream's conversion.
///
/// # Safety
/// The extension must be active, the lock held, and the class alive.
pub(super) unsafe fn is_named(class: *mut PyTypeObject) -> bool {
    // SAFETY: as the caller guarantees.
    unsafe {
        let state = state::get();
        let set = PyDict_GetItem(state.names, state.data_type_class_name);
        if set != class.cast() || *SLOT.get() != 0 {
            return false;
        }
        SLOT.set(slot_offset(class, c"_tvm_ffi_dtype"));
        *SLOT.get() != 0
    }
}

/// Returns the value of a `DataType`.
///
/// # Safety
/// `object` must be alive and a `DataType`.
pub(super) unsafe fn value(object: *mut PyObject) -> TVMFFIAny {
    // SAFETY: the record is the only field.
    let data_type: u32 = unsafe { word(object, ANY) };
    TVMFFIAny {
        type_index: type_index::DATA_TYPE,
        small_str_len: 0,
        payload: TVMFFIAnyPayload { v_uint64: data_type.into() },
    }
}

/// Returns the value of a string that has a `DataType`; `None` if its slot has none.
///
/// # Safety
/// The state must be set; `object` must be alive and of the class that `is_named` has accepted.
pub(super) unsafe fn of_named(object: *mut PyObject) -> Option<TVMFFIAny> {
    // SAFETY: the slot has an object or null.
    unsafe {
        let record: *mut PyObject = word(object, *SLOT.get());
        if record.is_null() || Py_TYPE(record) != state::get().data_type {
            return None;
        }
        Some(value(record))
    }
}
