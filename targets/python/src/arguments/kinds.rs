//! Classification of types: what their instances convert to, found once per type as by upstream.

use crate::exchange;
use crate::python::Locked;
use crate::state;
use ferrite_core::abi::DLPackExchangeAPI;
use pyo3_ffi::*;

/// The conversion of a type's instances.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// No fast conversion: upstream's function.
    Unknown,
    /// `Tensor`.
    Tensor,
    /// A wrapper of an object.
    Object,
    /// A wrapper of an object that may have an exchange API.
    Container,
    /// `String`.
    String,
    /// `bytes`.
    Bytes,
    /// `Device`.
    Device,
    /// `DataType`.
    DataType,
    /// `tvm_ffi.dtype`, a string with a `DataType`.
    NamedDataType,
    /// `numpy.ndarray`.
    Array,
    /// `list`.
    List,
    /// `tuple`.
    Tuple,
    /// `dict`.
    Dict,
    /// Functions and methods.
    Callable,
    /// Tensors of a framework that has an exchange API.
    Foreign,
}

/// A type that was classified, kept alive so that no other type gets its address.
#[derive(Clone, Copy)]
struct Entry {
    class: *mut PyTypeObject,
    kind: Kind,
    /// The API of `Kind::Foreign`.
    api: *const DLPackExchangeAPI,
}

const ENTRIES: usize = 256;
static TABLE: Locked<[Entry; ENTRIES]> = Locked::new();

/// Empties the table.
///
/// # Safety
/// The lock must be held; called once, before `of`.
pub unsafe fn clear() {
    let entry = Entry { class: core::ptr::null_mut(), kind: Kind::Unknown, api: core::ptr::null() };
    // SAFETY: as the caller guarantees.
    unsafe { TABLE.set([entry; ENTRIES]) };
}

/// Returns the place of a type in the table.
#[inline(always)]
fn entry_of(class: *mut PyTypeObject) -> *mut Entry {
    let address = class.addr();
    TABLE.element((address >> 4) ^ (address >> 12))
}

/// Returns the kind of a type.
///
/// # Safety
/// The extension must be active, the lock held, and the type alive.
#[inline(always)]
pub unsafe fn of(class: *mut PyTypeObject) -> Kind {
    let entry = entry_of(class);
    // SAFETY: `clear` came first.
    let found = unsafe { *entry };
    if found.class == class {
        return found.kind;
    }
    // SAFETY: as the caller guarantees.
    unsafe { insert(entry, class) }
}

/// Returns the exchange API of a type that was just found to be foreign.
///
/// # Safety
/// Same requirements as `of`.
pub unsafe fn api(class: *mut PyTypeObject) -> Option<*const DLPackExchangeAPI> {
    // SAFETY: `clear` came first.
    let entry = unsafe { *entry_of(class) };
    if entry.class == class && !entry.api.is_null() { Some(entry.api) } else { None }
}

/// Classifies a type and stores it in the place of another one.
///
/// # Safety
/// Same requirements as `of`; `entry` must be the entry of `class` in the table.
#[cold]
unsafe fn insert(entry: *mut Entry, class: *mut PyTypeObject) -> Kind {
    // SAFETY: the type is alive, and the entry can be written.
    unsafe {
        let (kind, api) = match classify(class) {
            Kind::Unknown => match exchange::api_of(class) {
                Some(api) => (Kind::Foreign, api),
                None => (Kind::Unknown, core::ptr::null()),
            },
            kind => (kind, core::ptr::null()),
        };
        // For ever, as upstream keeps it: the release of a former type could run Python code in the
        // middle of a conversion.
        Py_INCREF(class.cast());
        entry.write(Entry { class, kind, api });
        kind
    }
}

/// Classifies a type in upstream's order: wrappers first, whatever else they are.
///
/// # Safety
/// Same requirements as `of`.
unsafe fn classify(class: *mut PyTypeObject) -> Kind {
    // SAFETY: the types of the state are alive.
    unsafe {
        let state = state::get();
        let is = |base: *mut PyTypeObject| PyType_IsSubtype(class, base) != 0;
        if is(state.tensor) {
            Kind::Tensor
        } else if is(state.container_base) {
            Kind::Container
        } else if is(state.object_base) {
            Kind::Object
        } else if class == &raw mut PyBytes_Type {
            Kind::Bytes
        } else if class == state.string && state.cached_object != 0 {
            Kind::String
        } else if class == state.device {
            Kind::Device
        } else if class == state.data_type {
            Kind::DataType
        } else if super::data_types::is_named(class) {
            Kind::NamedDataType
        } else if class == state.array {
            Kind::Array
        } else if class == &raw mut PyList_Type {
            Kind::List
        } else if class == &raw mut PyTuple_Type {
            Kind::Tuple
        } else if class == &raw mut PyDict_Type {
            Kind::Dict
        } else if is_callable(class) {
            Kind::Callable
        } else {
            Kind::Unknown
        }
    }
}

unsafe extern "C" {
    static mut PyMethod_Type: PyTypeObject;
}

/// Returns whether instances of a type are functions or methods, none of which has a protocol of
/// upstream's.
fn is_callable(class: *mut PyTypeObject) -> bool {
    class == &raw mut PyFunction_Type
        || class == &raw mut PyMethod_Type
        || class == &raw mut PyCFunction_Type
}
