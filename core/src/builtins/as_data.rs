//! How static functions are called where size counts: by few safe calls, which find in the function object what to run.

use core::ffi::{c_int, c_void};
use core::mem;
use core::ptr;

use crate::abi::{TVMFFIAny, TVMFFIFunctionCell, TVMFFIObject, TVMFFISafeCallType};
use crate::any::{Any, AnyView};
use crate::error::Result;
use crate::function::{Function, serve_safe_call};
use crate::object::ObjectClass;
use crate::object_alloc::{self, ObjectRecord};
use crate::type_index;

use super::Served;

/// The code that a call runs: a safe call, and the data that it finds in the function object.
#[derive(Clone, Copy)]
pub struct Entry {
    safe_call: TVMFFISafeCallType,
    data: *const c_void,
}

// SAFETY: the data is a function or a constant.
unsafe impl Sync for Entry {}
// SAFETY: as for Sync.
unsafe impl Send for Entry {}

/// A function over packed arguments.
type Body = fn(&[AnyView<'_>]) -> Result<Any>;

impl Entry {
    /// An entry whose calls the data serves.
    pub const fn of_data<D: Served>(data: &'static D) -> Self {
        Self { safe_call: serve_data::<D>, data: ptr::from_ref(data).cast() }
    }

    /// An entry whose calls run a function over packed arguments.
    pub const fn of_body(body: Body) -> Self {
        Self { safe_call: call_body, data: body as *const c_void }
    }

    /// Makes a function object.
    ///
    /// # Errors
    /// MemoryError.
    pub(super) fn to_function(self) -> Result<Function> {
        let cell = TVMFFIFunctionCell { safe_call: Some(self.safe_call), cpp_call: ptr::null_mut() };
        let init = |record: *mut DataRecord| {
            // SAFETY: the allocation has room for the record.
            unsafe {
                (&raw mut (*record).cell).write(cell);
                (&raw mut (*record).data).write(self.data);
            }
        };
        // SAFETY: init writes both, which need no destruction; function objects have this layout (ABI).
        unsafe {
            let object = object_alloc::allocate(type_index::FUNCTION, 0, init)?;
            Ok(Function::from_object_unchecked(object))
        }
    }
}

/// A function object with what its safe call asks for.
#[repr(C)]
struct DataRecord {
    header: TVMFFIObject,
    cell: TVMFFIFunctionCell,
    data: *const c_void,
}

// SAFETY: repr(C), header first.
unsafe impl ObjectRecord for DataRecord {
    unsafe fn destroy(_: *mut TVMFFIObject) {}
}

/// The data of the entry whose safe call got `handle`.
///
/// # Safety
/// The handle is that of a call by an [`Entry`].
unsafe fn data_of(handle: *mut c_void) -> *const c_void {
    // SAFETY: the handle of a call is the function object (ABI), which the entry made.
    unsafe { (*handle.cast::<DataRecord>()).data }
}

unsafe extern "C" fn serve_data<D: Served>(
    handle: *mut c_void,
    args: *const TVMFFIAny,
    count: i32,
    result: *mut TVMFFIAny,
) -> c_int {
    // SAFETY: `of_data` pairs this safe call with such data.
    let data: &'static D = unsafe { &*data_of(handle).cast() };
    // SAFETY: passed on.
    unsafe { data.serve(args, count, result) }
}

unsafe extern "C" fn call_body(
    handle: *mut c_void,
    args: *const TVMFFIAny,
    count: i32,
    result: *mut TVMFFIAny,
) -> c_int {
    // SAFETY: `of_body` pairs this safe call with such a function.
    let body = unsafe { mem::transmute::<*const c_void, Body>(data_of(handle)) };
    // SAFETY: passed on.
    unsafe { serve_safe_call(args, count, result, &body) }
}

/// Makes an [`Entry`](crate::builtins::Entry) of a reference to data that is [`Served`](crate::builtins::Served).
#[doc(hidden)]
#[macro_export]
macro_rules! data_entry {
    ($data:expr) => {
        $crate::builtins::Entry::of_data($data)
    };
}

/// Makes an [`Entry`](crate::builtins::Entry) of a function over packed arguments.
#[doc(hidden)]
#[macro_export]
macro_rules! packed_entry {
    ($body:expr) => {
        $crate::builtins::Entry::of_body($body)
    };
}
