//! Probes of upstream's types: sizes, offsets and slots, each on a value.
//!
//! A difference becomes a reason in the report, and nothing that relies on it is replaced.

use crate::arguments::{numpy, sample_tensor};
use crate::library::Library;
use crate::python::{Owned, attribute, slot_offset, word};
use crate::state::{ANY, DL_TENSOR, HANDLE, RELEASE_LOCK, State};
use crate::vectorcall;
use core::ffi::{CStr, c_int, c_void};
use core::mem::zeroed;
use core::ptr::null_mut;
use ferrite_core::abi::{TVMFFIAny, TVMFFIAnyPayload, type_index};
use pyo3_ffi::*;

/// Why something is left to upstream's code.
pub type Reason = String;

/// Looks up upstream's types and functions, and probes their layouts.
///
/// # Safety
/// `core` must be the module `tvm_ffi.core`, and the lock held.
pub unsafe fn probe(core: *mut PyObject, library: Library) -> Result<State, Reason> {
    // SAFETY: as the caller guarantees; found objects are kept for ever.
    unsafe {
        let class = |name: &CStr, size: isize| class_of_size(core, name, size);
        let function = class(
            c"Function",
            if vectorcall::is_enlarged() { vectorcall::ENLARGED } else { vectorcall::SIZE },
        )?;
        let call = (*function).tp_call.ok_or("Function has no slot tp_call")?;
        is_of_module(core, call as *const c_void, "Function.tp_call")?;
        let string = class(c"String", PyUnicode_Type.tp_basicsize + 8)?;
        let any = class(c"CAny", 32)?;
        let passed_as = |name, text: &CStr, index| {
            class(name, 24)
                .map(|class| if is_passed_as(any, class, text, index) { class } else { null_mut() })
        };
        let state = State {
            library,
            names: PyModule_GetDict(core),
            object_base: class(c"CObject", 24)?,
            container_base: match attribute(core, c"CContainerBase") {
                Some(_) => class(c"CContainerBase", 32)?,
                None => null_mut(),
            },
            native_base: class_named(core, c"PyNativeObject")?,
            object: class(c"Object", 24)?,
            function,
            tensor: class(c"Tensor", 32)?,
            error: class(c"Error", 24)?,
            any,
            string,
            bytes: class_named(core, c"Bytes").unwrap_or(null_mut()),
            device: passed_as(c"Device", c"cpu", type_index::DEVICE)?,
            data_type: passed_as(c"DataType", c"int32", type_index::DATA_TYPE)?,
            cached_object: slot_offset(string, c"_tvm_ffi_cached_object"),
            array: numpy::find(),
            value_of_any: found(core, c"_to_py_class_value")?,
            info_by_index: attribute(core, c"_type_index_to_type_info")
                .map_or(null_mut(), Owned::into_raw),
            info_by_key: found(core, c"_lookup_or_register_type_info_from_type_key")?,
            tensor_class_name: PyUnicode_InternFromString(c"_CLASS_TENSOR".as_ptr()),
            device_class_name: PyUnicode_InternFromString(c"_CLASS_DEVICE".as_ptr()),
            data_type_class_name: PyUnicode_InternFromString(c"_CLASS_DTYPE".as_ptr()),
            data_type_name: PyUnicode_InternFromString(c"_tvm_ffi_dtype".as_ptr()),
            cached_object_name: PyUnicode_InternFromString(c"_tvm_ffi_cached_object".as_ptr()),
            append_name: PyUnicode_InternFromString(c"_WITH_APPEND_BACKTRACE".as_ptr()),
            classes_name: PyUnicode_InternFromString(c"ERROR_NAME_TO_TYPE".as_ptr()),
            error_name: PyUnicode_InternFromString(c"__tvm_ffi_error__".as_ptr()),
            no_arguments: PyTuple_New(0),
            call,
        };
        inherits(&state)?;
        function_layout(core)?;
        any_layout(&state)?;
        Ok(state)
    }
}

/// Returns an attribute of the module, retained for ever.
unsafe fn found(core: *mut PyObject, name: &CStr) -> Result<*mut PyObject, Reason> {
    // SAFETY: the module is alive.
    match unsafe { attribute(core, name) } {
        Some(object) => Ok(object.into_raw()),
        None => Err(format!("tvm_ffi.core has no {}", name.to_string_lossy())),
    }
}

/// Returns a class of the module, retained for ever.
unsafe fn class_named(core: *mut PyObject, name: &CStr) -> Result<*mut PyTypeObject, Reason> {
    // SAFETY: the object is alive.
    unsafe {
        let object = found(core, name)?;
        if PyType_Check(object) == 0 {
            return Err(format!("{} is not a class", name.to_string_lossy()));
        }
        Ok(object.cast())
    }
}

/// Returns a class whose instances have the expected size.
unsafe fn class_of_size(
    core: *mut PyObject,
    name: &CStr,
    size: isize,
) -> Result<*mut PyTypeObject, Reason> {
    // SAFETY: the class is alive.
    unsafe {
        let class = class_named(core, name)?;
        let actual = (*class).tp_basicsize;
        if actual != size {
            return Err(format!(
                "instances of {} have {actual} bytes instead of {size}",
                name.to_string_lossy()
            ));
        }
        Ok(class)
    }
}

/// Fails if a slot's function does not come from upstream's extension: another tool has replaced
/// it.
unsafe fn is_of_module(
    core: *mut PyObject,
    function: *const c_void,
    slot: &str,
) -> Result<(), Reason> {
    // SAFETY: the path lives as long as `file`.
    unsafe {
        let file = Owned::from_new(PyModule_GetFilenameObject(core));
        let path = file.as_ref().map_or(core::ptr::null(), |file| PyUnicode_AsUTF8(file.as_ptr()));
        if path.is_null() {
            PyErr_Clear();
            return Err("tvm_ffi.core has no file".into());
        }
        let mut about: libc::Dl_info = zeroed();
        if libc::dladdr(function, &mut about) == 0
            || CStr::from_ptr(about.dli_fname) != CStr::from_ptr(path)
        {
            return Err(format!("{slot} is not upstream's function"));
        }
    }
    Ok(())
}

/// Fails unless the classes derive from each other as they should.
unsafe fn inherits(state: &State) -> Result<(), Reason> {
    let pairs = [
        (state.container_base, "CContainerBase"),
        (state.object, "Object"),
        (state.function, "Function"),
        (state.tensor, "Tensor"),
        (state.error, "Error"),
    ];
    for (class, name) in pairs {
        // SAFETY: the classes are alive.
        if !class.is_null() && unsafe { PyType_IsSubtype(class, state.object_base) } == 0 {
            return Err(format!("{name} does not derive from CObject"));
        }
    }
    Ok(())
}

/// Probes the handle and the flag `release_gil` of a function.
unsafe fn function_layout(core: *mut PyObject) -> Result<(), Reason> {
    let failed = || Reason::from("a function cannot be probed");
    // SAFETY: the objects are alive.
    unsafe {
        let name = c"ffi.Array";
        let made = PyObject_CallMethod(
            core,
            c"_get_global_func".as_ptr(),
            c"si".as_ptr(),
            name.as_ptr(),
            0 as c_int,
        );
        let function = checked(made).ok_or_else(failed)?;
        let handle = checked(PyObject_CallMethod(
            function.as_ptr(),
            c"__chandle__".as_ptr(),
            core::ptr::null(),
        ))
        .ok_or_else(failed)?;
        if PyLong_AsUnsignedLongLong(handle.as_ptr()) != word::<u64>(function.as_ptr(), HANDLE) {
            return Err(format!("a function's handle is not at offset {HANDLE}"));
        }
        let before: c_int = word(function.as_ptr(), RELEASE_LOCK);
        for (value, expected) in [(Py_False(), 0), (Py_True(), 1)] {
            let set = PyObject_SetAttrString(function.as_ptr(), c"release_gil".as_ptr(), value);
            if set != 0 || word::<c_int>(function.as_ptr(), RELEASE_LOCK) != expected {
                PyErr_Clear();
                return Err(format!("release_gil is not at offset {RELEASE_LOCK}"));
            }
        }
        function.as_ptr().cast::<u8>().add(RELEASE_LOCK).cast::<c_int>().write(before);
    }
    Ok(())
}

/// Returns an object; clears the error if there is none.
unsafe fn checked(object: *mut PyObject) -> Option<Owned> {
    // SAFETY: the reference is new.
    unsafe {
        if object.is_null() {
            PyErr_Clear();
        }
        Owned::from_new(object)
    }
}

/// Returns whether upstream passes an instance of a class, made of a string, as a value of this
/// type: some releases pass it as any Python object.
unsafe fn is_passed_as(
    any: *mut PyTypeObject,
    class: *mut PyTypeObject,
    text: &CStr,
    index: i32,
) -> bool {
    // SAFETY: the classes are alive, and `any_layout` compares where the type index is.
    unsafe {
        let instance = checked(PyObject_CallFunction(class.cast(), c"s".as_ptr(), text.as_ptr()));
        instance
            .and_then(|instance| {
                let made = PyObject_CallFunctionObjArgs(
                    any.cast(),
                    instance.as_ptr(),
                    null_mut::<PyObject>(),
                );
                checked(made)
            })
            .is_some_and(|value| word::<i32>(value.as_ptr(), ANY) == index)
    }
}

/// Probes the value in `CAny`, and the record of a tensor.
unsafe fn any_layout(state: &State) -> Result<(), Reason> {
    // SAFETY: the objects are alive; a value is written where the probe has found one.
    unsafe {
        let five = checked(PyLong_FromLong(5)).ok_or("no memory")?;
        let made =
            PyObject_CallFunctionObjArgs(state.any.cast(), five.as_ptr(), null_mut::<PyObject>());
        let any = checked(made).ok_or("CAny cannot be made")?;
        let value = any.as_ptr().cast::<u8>().add(ANY).cast::<TVMFFIAny>();
        if ((*value).type_index, (*value).payload.v_int64) != (type_index::INT, 5) {
            return Err(format!("the value of CAny is not at offset {ANY}"));
        }
        let handle = sample_tensor().ok_or("no memory")?;
        (*value).payload = TVMFFIAnyPayload { v_ptr: handle };
        (*value).type_index = type_index::TENSOR;
        let made =
            PyObject_CallFunctionObjArgs(state.value_of_any, any.as_ptr(), null_mut::<PyObject>());
        let tensor = checked(made).ok_or("a tensor cannot be made")?;
        let again = checked(PyObject_CallFunctionObjArgs(
            state.value_of_any,
            any.as_ptr(),
            null_mut::<PyObject>(),
        ));
        if again.is_some_and(|again| again.as_ptr() == tensor.as_ptr()) {
            return Err("an object has one Python object for ever".into());
        }
        let is_there = word::<*mut c_void>(tensor.as_ptr(), HANDLE) == handle
            && word::<*mut u8>(tensor.as_ptr(), DL_TENSOR) == handle.cast::<u8>().add(24);
        let rank =
            attribute(tensor.as_ptr(), c"shape").map_or(-1, |shape| PyObject_Size(shape.as_ptr()));
        if !is_there || rank != 1 {
            return Err(format!("a tensor's record is not at offset {DL_TENSOR}"));
        }
    }
    Ok(())
}
