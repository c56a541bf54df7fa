//! Size-optimised static functions: one shared safe call, which dispatches on data in the function
//! object.

use core::ffi::{c_int, c_void};
use core::ptr;

use crate::abi::{TVMFFIAny, TVMFFIFunctionCell, TVMFFIObject, type_index};
use crate::call::export;
use crate::call::function::{Function, serve_safe_call};
use crate::call::typed::Callee;
use crate::error::Result;
use crate::object::ObjectClass;
use crate::object::object_alloc::{self, ObjectRecord};
use crate::value::string::String;

use super::PackedFn;
use super::optional::{self, Data, Direct};
use super::served::Served;

/// An entry of a table of static functions. Created by
/// [`static_function!`](crate::static_function).
#[derive(Clone, Copy)]
pub struct StaticFunction(Data);

impl StaticFunction {
    /// Creates a static function from its data.
    pub const fn of_data(data: Data) -> Self {
        Self(data)
    }

    /// Returns the name, such as `ffi.Shape`; empty if the function is not linked.
    pub fn name(&self) -> &'static str {
        optional::linked_data(&self.0).map_or("", Served::name)
    }

    /// Returns the Rust function over packed arguments, or `direct`, which is the same.
    #[doc(hidden)]
    pub fn body(&self, direct: Direct) -> Option<PackedFn> {
        optional::direct_body(&self.0, direct)
    }

    /// Returns `true` unless the function can be linked, and is not.
    #[inline]
    pub(crate) fn is_linked(&self) -> bool {
        optional::linked_data(&self.0).is_some()
    }

    /// Creates a function object that calls the static function.
    ///
    /// # Errors
    /// MemoryError.
    pub fn to_function(&self) -> Result<Function> {
        let data = optional::required_data(&self.0)?;
        let cell = TVMFFIFunctionCell { safe_call: Some(serve_data), cpp_call: ptr::null_mut() };
        let init = |record: *mut DataRecord| {
            // SAFETY: the allocation has room for the record.
            unsafe {
                (&raw mut (*record).cell).write(cell);
                (&raw mut (*record).data).write(data);
            }
        };
        // SAFETY: init writes both, which need no destruction; function objects have this layout
        // (ABI).
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
        let mut text = String::EMPTY;
        optional::required_data(&self.0)?.with_callee(&mut |callee| {
            text = export::metadata_text(&|out| callee.signature.write_schema(out))?;
            Ok(())
        })?;
        Ok(text)
    }
}

/// The record of a function object with a reference to its data.
#[repr(C)]
struct DataRecord {
    header: TVMFFIObject,
    cell: TVMFFIFunctionCell,
    data: &'static dyn Served,
}

// SAFETY: repr(C), header first.
unsafe impl ObjectRecord for DataRecord {
    unsafe fn destroy(_: *mut TVMFFIObject) {}
}

unsafe extern "C" fn serve_data(
    handle: *mut c_void,
    args: *const TVMFFIAny,
    count: i32,
    result: *mut TVMFFIAny,
) -> c_int {
    // SAFETY: the handle of a call is the function object (ABI), and only this record has this safe
    // call.
    let data = unsafe { (*handle.cast::<DataRecord>()).data };
    // SAFETY: passed on.
    unsafe { data.serve(args, count, result) }
}

/// The data of a static function over packed arguments.
#[doc(hidden)]
pub struct Body {
    pub callee: &'static Callee<'static>,
    pub run: PackedFn,
}

impl Served for Body {
    fn name(&self) -> &'static str {
        self.callee.name
    }

    fn with_callee(&self, then: &mut dyn FnMut(&Callee<'_>) -> Result<()>) -> Result<()> {
        then(self.callee)
    }

    unsafe fn serve(&self, args: *const TVMFFIAny, count: i32, result: *mut TVMFFIAny) -> c_int {
        // SAFETY: passed on.
        unsafe { serve_safe_call(args, count, result, &self.run) }
    }

    #[cfg(all(feature = "optional-functions", target_family = "wasm"))]
    fn body(&self) -> Option<PackedFn> {
        Some(self.run)
    }
}

/// Creates a static function from its name and types, and a Rust function over packed arguments. A
/// name that is a literal makes it optional.
#[doc(hidden)]
#[macro_export]
macro_rules! function_of_body {
    ($callee:expr, $run:expr $(, $optional:literal)?) => {{
        const BODY: &$crate::names::builtins::Body = &$crate::names::builtins::Body {
            callee: $callee,
            run: $crate::optional_body!($run $(, $optional)?),
        };
        $crate::names::builtins::StaticFunction::of_data($crate::optional_data!(BODY $(, $optional)?))
    }};
}
