//! Speed-optimised static functions: each has its own safe call with its body inlined.

use core::ffi::{c_int, c_void};
use core::ptr;

use crate::abi::{TVMFFIAny, TVMFFIFunctionCell, TVMFFIObject, TVMFFISafeCallType, type_index};
use crate::call::export;
use crate::call::function::{Function, serve_safe_call};
use crate::call::typed::Callee;
use crate::error::Result;
use crate::object::ObjectClass;
use crate::object::free::LEAF_DELETER;
use crate::object::object_alloc::{self, ObjectRecord};
use crate::value::any::{Any, AnyView};
use crate::value::string::String;

/// An entry of a table of static functions. Created by
/// [`static_function!`](crate::static_function).
#[derive(Clone, Copy)]
pub struct StaticFunction {
    callee: &'static Callee<'static>,
    safe_call: TVMFFISafeCallType,
}

impl StaticFunction {
    /// Creates a static function from its name and types, and a safe call that ignores its handle.
    ///
    /// # Safety
    /// The function must be a safe call (ABI) and accept any handle.
    pub const unsafe fn new(
        callee: &'static Callee<'static>,
        safe_call: TVMFFISafeCallType,
    ) -> Self {
        Self { callee, safe_call }
    }

    /// Returns the name, such as `ffi.Shape`.
    #[inline]
    pub fn name(&self) -> &'static str {
        self.callee.name
    }

    /// Returns the Rust function over packed arguments: `direct`.
    #[doc(hidden)]
    pub fn body(&self, direct: super::Direct) -> Option<super::Direct> {
        Some(direct)
    }

    /// Returns `true`: all functions are linked.
    #[inline(always)]
    pub(crate) fn is_linked(&self) -> bool {
        true
    }

    /// Creates a function object that calls the static function.
    ///
    /// # Errors
    /// MemoryError.
    pub fn to_function(&self) -> Result<Function> {
        let cell =
            TVMFFIFunctionCell { safe_call: Some(self.safe_call), cpp_call: ptr::null_mut() };
        let init = |record: *mut PlainRecord| {
            // SAFETY: the allocation has room for the record.
            unsafe { (&raw mut (*record).cell).write(cell) };
        };
        // SAFETY: init writes the cell, which needs no destruction; function objects have this
        // layout (ABI).
        unsafe {
            let object = object_alloc::allocate(type_index::FUNCTION, 0, init)?;
            Ok(Function::from_object_unchecked(object))
        }
    }

    /// Returns the metadata JSON: `{"type_schema":"..."}`.
    ///
    /// # Errors
    /// MemoryError.
    pub fn metadata(&self) -> Result<String> {
        export::metadata_text(&|out| self.callee.signature.write_schema(out))
    }
}

/// The record of a function object without state.
#[repr(C)]
struct PlainRecord {
    header: TVMFFIObject,
    cell: TVMFFIFunctionCell,
}

// SAFETY: repr(C), header first.
unsafe impl ObjectRecord for PlainRecord {
    const DELETER: unsafe extern "C" fn(*mut c_void, c_int) = LEAF_DELETER;

    unsafe fn destroy(_: *mut TVMFFIObject) {}
}

/// Creates a static function from its name and types, and a Rust function over packed arguments.
#[doc(hidden)]
#[macro_export]
macro_rules! function_of_body {
    ($callee:expr, $run:expr $(, $optional:literal)?) => {{
        unsafe extern "C" fn call(
            _: *mut ::core::ffi::c_void,
            args: *const $crate::abi::TVMFFIAny,
            count: i32,
            result: *mut $crate::abi::TVMFFIAny,
        ) -> ::core::ffi::c_int {
            // SAFETY: a function's safe call gets arguments by the safe call convention.
            unsafe { $crate::names::builtins::call($run, args, count, result) }
        }
        // SAFETY: the function above is such a safe call.
        unsafe { $crate::names::builtins::StaticFunction::new($callee, call) }
    }};
}

/// Implements the safe call of a static function. Returns 0, or -1 with an error raised.
///
/// # Safety
/// The last three arguments must be those of a safe call.
#[doc(hidden)]
#[inline(always)]
pub unsafe fn call(
    run: fn(&[AnyView<'_>]) -> Result<Any>,
    args: *const TVMFFIAny,
    count: i32,
    result: *mut TVMFFIAny,
) -> c_int {
    // SAFETY: the caller passes on the arguments of a safe call.
    unsafe { serve_safe_call(args, count, result, &run) }
}
