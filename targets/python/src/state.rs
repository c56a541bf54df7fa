//! State of the extension: upstream's types and functions, and the library's symbols.

use crate::library::Library;
use crate::python::Locked;
use pyo3_ffi::*;

/// Offset of the object handle in every wrapper, `CObject`.
pub const HANDLE: usize = 16;
/// Offset of the flag `release_gil`, a C `int`, in `Function`.
pub const RELEASE_LOCK: usize = 24;
/// Offset of the `DLTensor*` in `Tensor`.
pub const DL_TENSOR: usize = 24;
/// Offset of the exchange API in `CContainerBase`.
pub const EXCHANGE_API: usize = 24;
/// Offset of the value in `CAny`.
pub const ANY: usize = 16;

/// Upstream's types, functions and slots. All references are owned and never released.
pub struct State {
    /// The C functions.
    pub library: Library,
    /// `tvm_ffi.core.__dict__`.
    pub names: *mut PyObject,
    /// The class of all wrappers.
    pub object_base: *mut PyTypeObject,
    /// The class of wrappers that have an exchange API; null in releases without it.
    pub container_base: *mut PyTypeObject,
    /// The base of value classes such as `String`.
    pub native_base: *mut PyTypeObject,
    /// `Object`.
    pub object: *mut PyTypeObject,
    /// `Function`.
    pub function: *mut PyTypeObject,
    /// `Tensor`, not the class that results have.
    pub tensor: *mut PyTypeObject,
    /// `Error`.
    pub error: *mut PyTypeObject,
    /// `CAny`.
    pub any: *mut PyTypeObject,
    /// `String`.
    pub string: *mut PyTypeObject,
    /// `Bytes`; null in releases without it.
    pub bytes: *mut PyTypeObject,
    /// `Device`.
    pub device: *mut PyTypeObject,
    /// `DataType`; null in releases that pass it as any Python object.
    pub data_type: *mut PyTypeObject,
    /// Offset of `String._tvm_ffi_cached_object`; 0 if it is not a slot.
    pub cached_object: usize,
    /// `numpy.ndarray`; null without NumPy.
    pub array: *mut PyTypeObject,
    /// `_to_py_class_value`.
    pub value_of_any: *mut PyObject,
    /// `_type_index_to_type_info`; null in releases without it.
    pub info_by_index: *mut PyObject,
    /// `_lookup_or_register_type_info_from_type_key`.
    pub info_by_key: *mut PyObject,
    /// The string `_CLASS_TENSOR`.
    pub tensor_class_name: *mut PyObject,
    /// The string `_CLASS_DEVICE`.
    pub device_class_name: *mut PyObject,
    /// The string `_CLASS_DTYPE`.
    pub data_type_class_name: *mut PyObject,
    /// The string `_tvm_ffi_dtype`.
    pub data_type_name: *mut PyObject,
    /// The string `_tvm_ffi_cached_object`.
    pub cached_object_name: *mut PyObject,
    /// The string `_WITH_APPEND_BACKTRACE`.
    pub append_name: *mut PyObject,
    /// The string `ERROR_NAME_TO_TYPE`.
    pub classes_name: *mut PyObject,
    /// The string `__tvm_ffi_error__`.
    pub error_name: *mut PyObject,
    /// The empty tuple.
    pub no_arguments: *mut PyObject,
    /// The slot `tp_call` that `Function` had.
    pub call: ternaryfunc,
}

static STATE: Locked<State> = Locked::new();

/// Stores the state.
///
/// # Safety
/// The interpreter's lock must be held, the state's references must be owned, and no reference that
/// `get` returned may be in use.
pub unsafe fn set(state: State) {
    // SAFETY: as the caller guarantees.
    unsafe { STATE.set(state) };
}

/// Returns the state.
///
/// # Safety
/// `set` must have been called: an active extension and every replaced slot imply it.
#[inline(always)]
pub unsafe fn get() -> &'static State {
    // SAFETY: `set` came first, and the state does not change afterwards.
    unsafe { &*STATE.get() }
}
