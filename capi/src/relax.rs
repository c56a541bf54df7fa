//! Functions for the native code of models, on the lists of values of the virtual machine.

use core::ffi::{c_int, c_void};

use ferrite_core::abi::TVMFFIAny;
use ferrite_core::error::Result;
use ferrite_relax::compiled;

use crate::boundary;

/// Ends a symbol. Its body panics nowhere, and is called for every argument of native code, so nothing is caught.
#[inline(always)]
fn end(outcome: Result<()>) -> c_int {
    match outcome {
        Ok(()) => 0,
        Err(error) => boundary::fail(error),
    }
}

/// Copies element `index` of a list of values to argument `arg_offset`, which borrows it.
///
/// Returns 0; or -1 with ValueError raised for a null pointer or a negative number.
///
/// # Safety
/// `anylist` is a list that the machine passed to the code and has the element; `args` has the argument.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMBackendAnyListSetPackedArg(
    anylist: *mut c_void,
    index: c_int,
    args: *mut TVMFFIAny,
    arg_offset: c_int,
) -> c_int {
    // SAFETY: contract of this function.
    end(unsafe { compiled::set_packed_arg(anylist, index, args, arg_offset) })
}

/// Sets element `index` of a list of values to None.
///
/// Returns 0; or -1 with ValueError raised for a null pointer or a negative number.
///
/// # Safety
/// `anylist` is a list that the machine passed to the code, and has the element.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMBackendAnyListResetItem(anylist: *mut c_void, index: c_int) -> c_int {
    // SAFETY: contract of this function.
    end(unsafe { compiled::reset_item(anylist, index) })
}

/// Moves the result of a call, value `ret_offset` of `args`, to element `index` of a list of values, and leaves None in
/// `args`.
///
/// Returns 0; or -1 with ValueError raised for a null pointer or a negative number.
///
/// # Safety
/// `anylist` is a list that the machine passed to the code, and has the element; `args` has an owned value at
/// `ret_offset`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMBackendAnyListMoveFromPackedReturn(
    anylist: *mut c_void,
    index: c_int,
    args: *mut TVMFFIAny,
    ret_offset: c_int,
) -> c_int {
    // SAFETY: contract of this function.
    end(unsafe { compiled::move_from_packed_return(anylist, index, args, ret_offset) })
}
