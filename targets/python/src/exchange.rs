//! Tensors of frameworks by the C exchange API: calls run on the framework's stream, allocate by
//! its allocator, and return its tensors.

use crate::call::{self, NONE};
use crate::python::{Owned, word};
use crate::state::{self, EXCHANGE_API};
use core::ffi::{CStr, c_int, c_void};
use core::ptr::null_mut;
use ferrite_core::abi::{
    DLManagedTensorVersioned, DLPackExchangeAPI, DLTensor, TVMFFIAny, TVMFFIObjectHandle,
    type_index,
};
use pyo3_ffi::*;

/// DLPack's device type of the processor.
const CPU: i32 = 1;
/// Offset of a tensor's record behind the header of its object.
const CONTENT: usize = 24;

/// Exports a framework's tensor as a tensor object. Returns `None` on a failure, which upstream's
/// conversion reports.
///
/// # Safety
/// The extension must be active, the lock held, `object` alive, and `api` must be the API of its
/// class.
pub unsafe fn import(
    object: *mut PyObject,
    api: *const DLPackExchangeAPI,
) -> Option<TVMFFIObjectHandle> {
    // SAFETY: the framework returns a tensor that this owns until the library takes it.
    unsafe {
        let export = (*api).managed_tensor_from_py_object_no_sync?;
        let mut managed: *mut DLManagedTensorVersioned = null_mut();
        if export(object.cast(), &mut managed) != 0 {
            PyErr_Clear();
            return None;
        }
        let mut handle = null_mut();
        if (state::get().library.from_dlpack)(managed, 0, 0, &mut handle) != 0 {
            if let Some(delete) = (*managed).deleter {
                delete(managed);
            }
            discard_raised();
            return None;
        }
        Some(handle)
    }
}

/// Releases the raised error.
unsafe fn discard_raised() {
    // SAFETY: the library writes an error or leaves null.
    unsafe {
        let mut error = null_mut();
        (state::get().library.move_raised)(&mut error);
        if !error.is_null() {
            (state::get().library.dec_ref)(error);
        }
    }
}

/// A device's stream.
struct Stream {
    device: i32,
    id: i32,
    handle: *mut c_void,
}

/// Returns the stream of the first tensor that is not in main memory.
unsafe fn stream_of(
    api: *const DLPackExchangeAPI,
    tensors: impl Iterator<Item = *mut c_void>,
) -> Option<Stream> {
    // SAFETY: the tensors are alive.
    unsafe {
        let current = (*api).current_work_stream?;
        for tensor in tensors {
            let record: *const DLTensor = tensor.cast::<u8>().add(CONTENT).cast();
            let device = (*record).device;
            let mut handle = null_mut();
            if device.device_type != CPU
                && current(device.device_type, device.device_id, &mut handle) == 0
            {
                return Some(Stream { device: device.device_type, id: device.device_id, handle });
            }
        }
    }
    None
}

/// How a call has ended.
pub enum Ended {
    /// With this status.
    Status(c_int),
    /// With a Python error that is set.
    Raised,
}

/// Calls a function as the framework that has this API wants it.
///
/// # Safety
/// The extension must be active, the lock held, and `function` must be a live function; `values`
/// must point to `count` valid values, `tensors` must yield live tensor objects, and `api` must be
/// valid.
pub unsafe fn call(
    (function, releases): (TVMFFIObjectHandle, bool),
    (values, count): (*const TVMFFIAny, i32),
    api: *const DLPackExchangeAPI,
    tensors: impl Iterator<Item = *mut c_void>,
    result: &mut TVMFFIAny,
) -> Ended {
    // SAFETY: as the caller guarantees; what is set before the call is restored after it.
    unsafe {
        let library = &state::get().library;
        let (mut former_stream, mut former_allocator) = (null_mut(), None);
        let stream = stream_of(api, tensors);
        if let Some(stream) = &stream {
            let status =
                (library.set_stream)(stream.device, stream.id, stream.handle, &mut former_stream);
            if status != 0 {
                return Ended::Status(status);
            }
        }
        let allocator = (*api).managed_tensor_allocator;
        if allocator.is_some() {
            let status = (library.set_allocator)(allocator, 0, &mut former_allocator);
            if status != 0 {
                return Ended::Status(status);
            }
        }
        let status = call::enter(function, releases, values, count, result);
        if let Some(stream) = stream.filter(|stream| stream.handle != former_stream)
            && (library.set_stream)(stream.device, stream.id, former_stream, null_mut()) != 0
        {
            return fail(result, status, c"Failed to recover stream");
        }
        let address = |allocator: ferrite_core::abi::DLPackManagedTensorAllocator| {
            allocator.map_or(0, |function| function as usize)
        };
        let is_other = address(former_allocator) != address(allocator);
        if is_other && (library.set_allocator)(former_allocator, 0, null_mut()) != 0 {
            return fail(result, status, c"Failed to recover DLPack managed tensor allocator");
        }
        Ended::Status(status)
    }
}

/// Raises a RuntimeError in place of a result.
#[cold]
unsafe fn fail(result: &mut TVMFFIAny, status: c_int, message: &CStr) -> Ended {
    // SAFETY: a call that succeeded has an owned result.
    unsafe {
        if status == 0 && result.type_index >= type_index::STATIC_OBJECT_BEGIN {
            (state::get().library.dec_ref)(result.payload.v_ptr);
        }
        discard_raised();
        *result = NONE;
        PyErr_SetString(PyExc_RuntimeError, message.as_ptr());
    }
    Ended::Raised
}

/// Makes a framework's tensor of an owned one. Returns `None` if the framework does not take it.
///
/// # Safety
/// The extension must be active, the lock held, and `api` must be valid; `handle` must be an owned
/// tensor. On success its reference is released; otherwise the caller keeps it.
pub unsafe fn export(
    handle: TVMFFIObjectHandle,
    api: *const DLPackExchangeAPI,
) -> Option<*mut PyObject> {
    // SAFETY: the library makes a managed tensor that keeps the tensor alive; the framework takes
    // it.
    unsafe {
        let make = (*api).managed_tensor_to_py_object_no_sync?;
        let library = &state::get().library;
        let mut managed: *mut DLManagedTensorVersioned = null_mut();
        if (library.to_dlpack)(handle, &mut managed) != 0 {
            discard_raised();
            return None;
        }
        let mut object: *mut c_void = null_mut();
        if make(managed, &mut object) != 0 {
            if let Some(delete) = (*managed).deleter {
                delete(managed);
            }
            PyErr_Clear();
            return None;
        }
        (library.dec_ref)(handle);
        Some(object.cast())
    }
}

/// Makes a container convert its tensors for the framework.
///
/// # Safety
/// The state must be set and the lock held; `object` must be null or alive, and `api` must outlive
/// it.
pub unsafe fn tag(object: *mut PyObject, api: *const DLPackExchangeAPI) {
    // SAFETY: the layout of containers was probed.
    unsafe {
        if !object.is_null() && PyType_IsSubtype(Py_TYPE(object), state::get().container_base) != 0
        {
            object.cast::<u8>().add(EXCHANGE_API).cast::<*const DLPackExchangeAPI>().write(api);
        }
    }
}

/// Returns the API that a class offers in `__dlpack_c_exchange_api__`; `None` if there is none, if
/// it is switched off, or if only Python code can tell: a class is classified in the middle of a
/// conversion, whose list Python code could change.
///
/// # Safety
/// The lock must be held, and the class alive.
pub unsafe fn api_of(class: *mut PyTypeObject) -> Option<*const DLPackExchangeAPI> {
    let is_off =
        std::env::var_os("TVM_FFI_SKIP_DLPACK_C_EXCHANGE_API").is_some_and(|value| value == "1");
    if is_off {
        return None;
    }
    // SAFETY: a capsule of this name has such a table, which lives as long as the process.
    unsafe {
        if class_attribute(class, c"__tvm_ffi_object__").is_none_or(|found| !found.is_null()) {
            return None;
        }
        let offered = class_attribute(class, c"__dlpack_c_exchange_api__")?;
        let name = c"dlpack_exchange_api".as_ptr();
        if PyCapsule_IsValid(offered, name) == 0 {
            return None;
        }
        let api: *const DLPackExchangeAPI = PyCapsule_GetPointer(offered, name).cast();
        let major: u32 = word(api.cast_mut().cast(), 0);
        (major == 1).then_some(api)
    }
}

unsafe extern "C" {
    fn _PyType_Lookup(class: *mut PyTypeObject, name: *mut PyObject) -> *mut PyObject;
}

/// Returns an attribute of a class or its bases, borrowed; null if there is none, and `None` if
/// Python code of a metaclass may answer.
///
/// # Safety
/// The lock must be held, and the class alive.
unsafe fn class_attribute(class: *mut PyTypeObject, name: &CStr) -> Option<*mut PyObject> {
    // SAFETY: as the caller guarantees; looking up names in classes runs no Python code.
    unsafe {
        let name = Owned::from_new(PyUnicode_InternFromString(name.as_ptr()))?;
        let metaclass = Py_TYPE(class.cast());
        let getter = |class: *mut PyTypeObject| (*class).tp_getattro.map(|slot| slot as usize);
        if getter(metaclass) != getter(&raw mut PyType_Type)
            || !_PyType_Lookup(metaclass, name.as_ptr()).is_null()
        {
            return None;
        }
        Some(_PyType_Lookup(class, name.as_ptr()))
    }
}
