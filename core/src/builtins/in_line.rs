//! How static functions are called where speed counts: each has a safe call of its own, with its body in line.

use core::ffi::c_int;
use core::ptr;

use crate::abi::{TVMFFIAny, TVMFFIFunctionCell, TVMFFIObject, TVMFFISafeCallType};
use crate::any::{Any, AnyView};
use crate::error::Result;
use crate::function::{Function, serve_safe_call};
use crate::object::ObjectClass;
use crate::object_alloc::{self, ObjectRecord};
use crate::type_index;

/// The code that a call runs.
#[derive(Clone, Copy)]
pub struct Entry {
    safe_call: TVMFFISafeCallType,
}

impl Entry {
    /// An entry whose calls run `safe_call`, which does not use its handle.
    pub const fn new(safe_call: TVMFFISafeCallType) -> Self {
        Self { safe_call }
    }

    /// Makes a function object.
    ///
    /// # Errors
    /// MemoryError.
    pub(super) fn to_function(self) -> Result<Function> {
        let cell = TVMFFIFunctionCell { safe_call: Some(self.safe_call), cpp_call: ptr::null_mut() };
        let init = |record: *mut PlainRecord| {
            // SAFETY: the allocation has room for the record.
            unsafe { (&raw mut (*record).cell).write(cell) };
        };
        // SAFETY: init writes the cell, which needs no destruction; function objects have this layout (ABI).
        unsafe {
            let object = object_alloc::allocate(type_index::FUNCTION, 0, init)?;
            Ok(Function::from_object_unchecked(object))
        }
    }
}

/// A function object without anything after the part that C reads.
#[repr(C)]
struct PlainRecord {
    header: TVMFFIObject,
    cell: TVMFFIFunctionCell,
}

// SAFETY: repr(C), header first.
unsafe impl ObjectRecord for PlainRecord {
    unsafe fn destroy(_: *mut TVMFFIObject) {}
}

/// Makes an [`Entry`](crate::builtins::Entry) of a function over packed arguments.
#[doc(hidden)]
#[macro_export]
macro_rules! packed_entry {
    ($body:expr) => {
        $crate::safe_call_entry!($crate::builtins::call, $body)
    };
}

/// Makes an [`Entry`](crate::builtins::Entry) of a reference to data that is [`Served`](crate::builtins::Served).
#[doc(hidden)]
#[macro_export]
macro_rules! data_entry {
    ($data:expr) => {
        $crate::safe_call_entry!($crate::builtins::Served::serve, $data)
    };
}

/// Makes an [`Entry`](crate::builtins::Entry) of a safe call that calls `serve` with `what` and its own arguments.
#[doc(hidden)]
#[macro_export]
macro_rules! safe_call_entry {
    ($serve:path, $what:expr) => {{
        unsafe extern "C" fn call(
            _: *mut ::core::ffi::c_void,
            args: *const $crate::abi::TVMFFIAny,
            count: i32,
            result: *mut $crate::abi::TVMFFIAny,
        ) -> ::core::ffi::c_int {
            let what = $what;
            // SAFETY: a function's safe call gets arguments by the safe call convention.
            unsafe { $serve(what, args, count, result) }
        }
        $crate::builtins::Entry::new(call)
    }};
}

/// Serves a call.
///
/// # Safety
/// The last three arguments must be those of a safe call.
#[doc(hidden)]
#[inline(always)]
pub unsafe fn call(
    body: fn(&[AnyView<'_>]) -> Result<Any>,
    args: *const TVMFFIAny,
    count: i32,
    result: *mut TVMFFIAny,
) -> c_int {
    // SAFETY: the caller passes on the arguments of a safe call.
    unsafe { serve_safe_call(args, count, result, &body) }
}
