//! Dispatch for size-optimised builds: all arguments are converted, and all operations share one
//! safe-call function.

use core::ffi::c_int;

use ferrite_core::abi::TVMFFIAny;
use ferrite_core::call::function::serve_in_place;
use ferrite_core::call::typed::Callee;
use ferrite_core::error::Result;
use ferrite_core::names::builtins::Served;
use ferrite_core::value::any::Any;

use super::Argument;
use super::descriptor::{Operation, call_converted};

impl Served for Operation {
    fn name(&self) -> &'static str {
        self.name
    }

    fn with_callee(&self, then: &mut dyn FnMut(&Callee<'_>) -> Result<()>) -> Result<()> {
        self.types.with_callee(self.name, then)
    }

    unsafe fn serve(&self, args: *const TVMFFIAny, count: i32, result: *mut TVMFFIAny) -> c_int {
        // SAFETY: the caller guarantees the arguments; a body that succeeds leaves its result in
        // the cell.
        unsafe {
            serve_in_place(args, count, result, |args, result| call_converted(self, args, result))
        }
    }
}

impl<'a> Argument<'a> {
    /// Returns an owned copy of the argument.
    ///
    /// # Errors
    /// None: the argument has been converted.
    #[inline(always)]
    pub(crate) fn to_owned(self) -> Result<Any> {
        Ok(self.borrow().clone())
    }

    /// Borrows the argument as an [`Any`], without taking a reference. Conversion has validated its
    /// cell.
    ///
    /// # Errors
    /// None: the argument has been converted.
    #[inline(always)]
    pub(crate) fn whole(self) -> Result<&'a Any> {
        Ok(self.borrow())
    }
}

/// Creates the static function for the constant `OPERATION`, which must be in scope.
macro_rules! static_operation {
    ($serve:ident, $name:literal, $function:ty, $operands:ty) => {
        ferrite_core::names::builtins::StaticFunction::of_data(ferrite_core::optional_data!(
            OPERATION, $name
        ))
    };
}
pub(crate) use static_operation;
