//! The safe call of all operations where size counts: arguments are converted, whether they need it or not.

use core::ffi::c_int;

use ferrite_core::abi::TVMFFIAny;
use ferrite_core::builtins::Served;
use ferrite_core::function::serve_in_place;

use super::{Operation, call_converted};

impl Served for Operation {
    unsafe fn serve(&'static self, args: *const TVMFFIAny, count: i32, result: *mut TVMFFIAny) -> c_int {
        // SAFETY: the caller vouches for the arguments; a body that succeeds leaves its answer in the cell.
        unsafe { serve_in_place(args, count, result, |args, result| call_converted(self, args, result)) }
    }
}

/// Makes the entry of the constant `OPERATION`.
macro_rules! operation_entry {
    ($serve:ident) => {
        ferrite_core::data_entry!(OPERATION)
    };
}
pub(crate) use operation_entry;
