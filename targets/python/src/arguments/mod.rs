//! Arguments: Python objects as borrowed values.
//!
//! Exact builtin types are compared first; other types are classified once, in `kinds`.

mod array;
mod data_types;
mod kinds;
mod nested;
pub mod numpy;
mod strings;

pub use array::sample as sample_tensor;
pub use nested::start as start_nested;

use crate::call::NONE;
use crate::python::word;
use crate::state::{self, ANY, DL_TENSOR, EXCHANGE_API, HANDLE};
use crate::{callbacks, exchange};
use core::ffi::{c_int, c_void};
use core::mem::MaybeUninit;
use ferrite_core::abi::{DLPackExchangeAPI, TVMFFIAny, TVMFFIAnyPayload, TVMFFIObject, type_index};
use kinds::Kind;
use pyo3_ffi::*;

/// The most arguments of a fast call.
const CAPACITY: usize = 16;

/// Memory for the values of arguments.
pub type Values = MaybeUninit<[TVMFFIAny; CAPACITY]>;

/// Values of arguments, and the temporary objects among them.
pub struct Arguments<'a> {
    values: &'a mut Values,
    /// Bits of the values whose object this owns.
    owned: u32,
    /// Bits of the values that are tensors over NumPy arrays.
    arrays: u32,
    /// Bits of the values that are tensors of a framework.
    foreign: u32,
    /// The API of the last of them; null without one.
    api: *const DLPackExchangeAPI,
}

/// How a value refers to its object.
pub enum Reference {
    /// The value has no object, or the Python object keeps it alive.
    Borrowed,
    /// The value owns a new object.
    Owned,
    /// The value owns a tensor over a NumPy array.
    Array,
    /// The value owns a tensor of a framework that has this API.
    Foreign(*const DLPackExchangeAPI),
}

impl<'a> Arguments<'a> {
    /// No arguments yet. The memory is separate, since it need not be cleared.
    #[inline(always)]
    pub fn new(values: &'a mut Values) -> Self {
        Self { values, owned: 0, arrays: 0, foreign: 0, api: core::ptr::null() }
    }

    /// Converts objects. Returns `false` if one of them has no fast conversion.
    ///
    /// # Safety
    /// The extension must be active, the lock held, and `items` must point to `count` objects,
    /// which must outlive this. It must be called at most once.
    #[inline(always)]
    pub unsafe fn push_all(&mut self, items: *const *mut PyObject, count: usize) -> bool {
        if count > CAPACITY {
            return false;
        }
        for index in 0..count {
            // SAFETY: as the caller guarantees.
            let converted = unsafe {
                convert(*items.add(index), self.values.as_mut_ptr().cast::<TVMFFIAny>().add(index))
            };
            match converted {
                Some(Reference::Borrowed) => {}
                Some(Reference::Owned) => self.owned |= 1 << index,
                Some(Reference::Array) => self.arrays |= 1 << index,
                Some(Reference::Foreign(api)) => {
                    self.owned |= 1 << index;
                    self.foreign |= 1 << index;
                    self.api = api;
                }
                None => return false,
            }
        }
        if count < CAPACITY {
            // A callee that reads its first argument although there is none finds None, as in
            // upstream's memory.
            // SAFETY: the index is in bounds.
            unsafe { self.values.as_mut_ptr().cast::<TVMFFIAny>().add(count).write(NONE) };
        }
        true
    }

    /// Returns the API of the framework whose tensors are among the arguments; null without one.
    #[inline(always)]
    pub fn api(&self) -> *const DLPackExchangeAPI {
        self.api
    }

    /// Returns the tensors of a framework.
    pub fn foreign(&self) -> impl Iterator<Item = *mut c_void> {
        let bits = (0..CAPACITY).filter(|index| self.foreign & (1 << index) != 0);
        // SAFETY: these values were written, and have an object.
        bits.map(|index| unsafe { (*self.as_ptr().add(index)).payload.v_ptr })
    }

    /// Returns the values.
    pub fn as_ptr(&self) -> *const TVMFFIAny {
        self.values.as_ptr().cast()
    }

    #[cold]
    fn release(&mut self) {
        while self.owned != 0 {
            let index = self.owned.trailing_zeros() as usize;
            self.owned &= self.owned - 1;
            // SAFETY: the value was written, and owns its object.
            unsafe {
                let object = (*self.as_ptr().add(index)).payload.v_ptr;
                (state::get().library.dec_ref)(object);
            }
        }
    }
}

impl Drop for Arguments<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        if self.arrays != 0 {
            while self.arrays != 0 {
                let index = self.arrays.trailing_zeros() as usize;
                self.arrays &= self.arrays - 1;
                // SAFETY: the value was written, and owns a tensor of `array`.
                unsafe { array::release((*self.as_ptr().add(index)).payload.v_ptr) };
            }
        }
        if self.owned != 0 {
            self.release();
        }
    }
}

/// Begins with nothing classified and nothing recycled.
///
/// # Safety
/// The lock must be held; called once, before any conversion.
pub unsafe fn start() {
    // SAFETY: as the caller guarantees.
    unsafe {
        kinds::clear();
        data_types::start();
        array::start();
    }
}

/// Returns whether instances of a type are wrappers of objects.
///
/// # Safety
/// The extension must be active, the lock held, and the type alive.
#[inline(always)]
pub unsafe fn is_wrapper(class: *mut PyTypeObject) -> bool {
    // SAFETY: as the caller guarantees.
    matches!(unsafe { kinds::of(class) }, Kind::Object | Kind::Container | Kind::Tensor)
}

/// A value without an object.
const fn plain(type_index: i32, payload: TVMFFIAnyPayload) -> TVMFFIAny {
    TVMFFIAny { type_index, small_str_len: 0, payload }
}

/// Converts an object. Returns `None` if it has no fast conversion; no Python error is set then.
///
/// # Safety
/// The extension must be active, the lock held, and `object` alive; `out` must be valid for writes.
#[inline(always)]
pub unsafe fn convert(object: *mut PyObject, out: *mut TVMFFIAny) -> Option<Reference> {
    // SAFETY: as the caller guarantees.
    let class = unsafe { Py_TYPE(object) };
    if class == &raw mut PyLong_Type {
        // SAFETY: the object is an integer.
        return unsafe { integer(object, out) };
    }
    // SAFETY: as the caller guarantees; the type says which fields the object has.
    unsafe {
        if class == &raw mut PyUnicode_Type {
            return strings::convert(object, out);
        }
        let value = if class == &raw mut PyFloat_Type {
            plain(type_index::FLOAT, TVMFFIAnyPayload { v_float64: PyFloat_AS_DOUBLE(object) })
        } else if object == Py_None() {
            NONE
        } else if class == &raw mut PyBool_Type {
            plain(type_index::BOOL, TVMFFIAnyPayload { v_int64: (object == Py_True()).into() })
        } else {
            return of_kind(object, kinds::of(class), out);
        };
        out.write(value);
    }
    Some(Reference::Borrowed)
}

/// Converts an integer of up to 64 bits.
///
/// # Safety
/// `object` must be an exact integer, and the lock held; `out` must be valid for writes.
#[inline(always)]
unsafe fn integer(object: *mut PyObject, out: *mut TVMFFIAny) -> Option<Reference> {
    let mut overflow: c_int = 0;
    // SAFETY: as the caller guarantees.
    let value = unsafe { PyLong_AsLongLongAndOverflow(object, &mut overflow) };
    if overflow != 0 {
        return None;
    }
    // SAFETY: as the caller guarantees.
    unsafe { out.write(plain(type_index::INT, TVMFFIAnyPayload { v_int64: value })) };
    Some(Reference::Borrowed)
}

/// Converts an object of a classified type.
///
/// # Safety
/// Same requirements as `convert`; `kind` must be the kind of the object's type.
#[inline(always)]
unsafe fn of_kind(object: *mut PyObject, kind: Kind, out: *mut TVMFFIAny) -> Option<Reference> {
    // SAFETY: the layouts of the types were probed.
    unsafe {
        match kind {
            Kind::Array => return array::convert(object, out),
            Kind::Tensor => out.write(tensor(object)),
            Kind::Object => out.write(wrapped(word(object, HANDLE))?),
            Kind::Container => {
                if !word::<*mut c_void>(object, EXCHANGE_API).is_null() {
                    return None;
                }
                out.write(wrapped(word(object, HANDLE))?);
            }
            Kind::String => {
                let cached: *mut PyObject = word(object, state::get().cached_object);
                if cached.is_null()
                    || PyType_IsSubtype(Py_TYPE(cached), state::get().object_base) == 0
                {
                    return None;
                }
                out.write(wrapped(word(cached, HANDLE))?);
            }
            Kind::Bytes => return strings::convert_bytes(object, out),
            Kind::Device => out
                .write(plain(type_index::DEVICE, TVMFFIAnyPayload { v_uint64: word(object, ANY) })),
            Kind::DataType => out.write(data_types::value(object)),
            Kind::NamedDataType => out.write(data_types::of_named(object)?),
            Kind::List => return nested::list(object, out),
            Kind::Tuple => return nested::tuple(object, out),
            Kind::Dict => return nested::dict(object, out),
            Kind::Foreign => return foreign(object, out),
            Kind::Callable => return callbacks::convert_callable(object, out),
            Kind::Unknown => return None,
        }
    }
    Some(Reference::Borrowed)
}

/// Converts a framework's tensor.
///
/// # Safety
/// Same requirements as `convert`; the object's type must be foreign.
unsafe fn foreign(object: *mut PyObject, out: *mut TVMFFIAny) -> Option<Reference> {
    // SAFETY: as the caller guarantees.
    unsafe {
        let api = kinds::api(Py_TYPE(object))?;
        let handle = exchange::import(object, api)?;
        out.write(plain(type_index::TENSOR, TVMFFIAnyPayload { v_ptr: handle }));
        Some(Reference::Foreign(api))
    }
}

/// The value of a tensor: its object or, for a borrowed tensor, the record.
///
/// # Safety
/// `object` must be a live instance of `Tensor`.
unsafe fn tensor(object: *mut PyObject) -> TVMFFIAny {
    // SAFETY: the layout of `Tensor` was probed.
    unsafe {
        let handle: *mut c_void = word(object, HANDLE);
        if handle.is_null() {
            plain(type_index::DL_TENSOR_PTR, TVMFFIAnyPayload { v_ptr: word(object, DL_TENSOR) })
        } else {
            plain(type_index::TENSOR, TVMFFIAnyPayload { v_ptr: handle })
        }
    }
}

/// The value of an object; `None` if the wrapper is empty.
///
/// # Safety
/// `handle` must be null or a live object.
unsafe fn wrapped(handle: *mut TVMFFIObject) -> Option<TVMFFIAny> {
    if handle.is_null() {
        return None;
    }
    // SAFETY: the handle is an object.
    let type_index = unsafe { (*handle).type_index };
    Some(plain(type_index, TVMFFIAnyPayload { v_obj: handle }))
}
