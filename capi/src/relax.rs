//! C functions by which compiled code of models accesses the virtual machine's value lists
//! (`AnyList`).

use core::ffi::{c_int, c_void};

use ferrite_core::abi::TVMFFIAny;
use ferrite_core::error::Result;
use ferrite_relax::compiled;

use crate::boundary;

/// Converts the result of a C symbol into a status code, and raises its error. Panics are not
/// caught: the bodies cannot panic, and run for every argument of compiled code.
#[inline(always)]
fn end(outcome: Result<()>) -> c_int {
    match outcome {
        Ok(()) => 0,
        Err(error) => boundary::fail(error),
    }
}

/// Copies element `index` of a value list to argument `arg_offset`, as a borrowed value.
///
/// Returns 0, or -1 with ValueError raised for a null pointer or a negative number.
///
/// # Safety
/// `anylist` must be a list that the virtual machine passed to the compiled code, and both indices
/// must be in range.
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

/// Sets element `index` of a value list to None.
///
/// Returns 0, or -1 with ValueError raised for a null pointer or a negative number.
///
/// # Safety
/// `anylist` must be a list that the virtual machine passed to the compiled code, and the index
/// must be in range.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMBackendAnyListResetItem(anylist: *mut c_void, index: c_int) -> c_int {
    // SAFETY: contract of this function.
    end(unsafe { compiled::reset_item(anylist, index) })
}

/// Moves the result of a call, value `ret_offset` of `args`, to element `index` of a value list.
/// Leaves None in `args`.
///
/// Returns 0, or -1 with ValueError raised for a null pointer or a negative number.
///
/// # Safety
/// `anylist` must be a list that the virtual machine passed to the compiled code, the index must be
/// in range, and `args` must have an owned value at `ret_offset`.
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
