//! Calls of functions.

use core::ffi::c_int;
use core::mem::MaybeUninit;

use ferrite_core::abi::{TVMFFIAny, TVMFFIFunctionCell, TVMFFIObject};
use ferrite_core::error::Result;
use ferrite_core::memory::Buffer;
use ferrite_core::{Any, Function, type_index};

use super::abi::{TVMFunctionHandle, TVMValue};
use super::{argument, result};
use crate::boundary::{self, arg};

/// Arguments of a call that need no memory from the heap.
const INLINE_ARGUMENTS: usize = 16;

/// Calls a function.
///
/// Arguments are borrowed. Results that are objects are the caller's; a text, a data type (as text) or bytes lie in the thread's
/// slot until its next call that returns one of them.
///
/// Returns 0; or -1 with the error of the function, a TypeError for an unknown type code, a ValueError for a null pointer or a
/// negative count.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFuncCall(
    func: TVMFunctionHandle,
    arg_values: *mut TVMValue,
    type_codes: *mut c_int,
    num_args: c_int,
    ret_val: *mut TVMValue,
    ret_type_code: *mut c_int,
) -> c_int {
    let object: *mut TVMFFIObject = func.cast();
    // SAFETY: a handle that is not null is a live object.
    let is_function = unsafe { !object.is_null() && (*object).type_index == type_index::FUNCTION };
    let count = num_args as usize;
    let has_all =
        !(arg_values.is_null() || type_codes.is_null() || ret_val.is_null() || ret_type_code.is_null());
    if !(is_function && has_all && count <= INLINE_ARGUMENTS) {
        // SAFETY: as the caller vouches.
        return boundary::status_of(|| unsafe {
            call_carefully(func, arg_values, type_codes, num_args, ret_val, ret_type_code)
        });
    }
    let mut cells = [const { MaybeUninit::<TVMFFIAny>::uninit() }; INLINE_ARGUMENTS];
    // SAFETY: there are as many values and codes, and the handle is a function.
    unsafe {
        match argument::view_all(arg_values, type_codes, cells.get_unchecked_mut(..count)) {
            Ok(args) => call(object, args, ret_val, ret_type_code),
            Err(error) => boundary::fail(error),
        }
    }
}

/// Calls a function with arguments of tvm-ffi, and gives the result to the caller.
///
/// # Safety
/// `function` is a live function, the arguments are valid, and the out-parameters writable.
#[inline]
unsafe fn call(
    function: *mut TVMFFIObject,
    args: &[TVMFFIAny],
    ret_val: *mut TVMValue,
    ret_type_code: *mut c_int,
) -> c_int {
    let mut returned = TVMFFIAny::NONE;
    // SAFETY: the cell follows the header of every function, and whoever makes a function gives it a safe call (ABI). What it
    // returns is owned.
    unsafe {
        let cell = function.add(1).cast::<TVMFFIFunctionCell>();
        let safe_call = (*cell).safe_call.unwrap_unchecked();
        let status = safe_call(function.cast(), args.as_ptr(), args.len() as i32, &mut returned);
        if status != 0 {
            return status;
        }
        match result::give(Any::from_raw(returned)) {
            Ok((value, type_code)) => {
                ret_val.write(value);
                ret_type_code.write(type_code);
                boundary::SUCCESS
            }
            Err(error) => boundary::fail(error),
        }
    }
}

/// Calls a function with many arguments or none, or tells what is wrong with a call.
///
/// # Safety
/// As for [`TVMFuncCall`].
#[cold]
unsafe fn call_carefully(
    func: TVMFunctionHandle,
    arg_values: *const TVMValue,
    type_codes: *const c_int,
    num_args: c_int,
    ret_val: *mut TVMValue,
    ret_type_code: *mut c_int,
) -> Result<c_int> {
    // SAFETY: as the caller vouches.
    unsafe {
        boundary::object_of::<Function>(func, arg(1, "func"))?;
        let values = boundary::slice(arg_values, num_args, arg(2, "arg_values"))?;
        boundary::slice(type_codes, num_args, arg(3, "type_codes"))?;
        boundary::non_null(ret_val, arg(5, "ret_val"))?;
        boundary::non_null(ret_type_code, arg(6, "ret_type_code"))?;
        let mut args = Buffer::try_with_capacity(values.len())?;
        for (index, value) in values.iter().enumerate() {
            args.try_push(argument::view(*value, *type_codes.add(index), index)?)?;
        }
        Ok(call(func.cast(), &args, ret_val, ret_type_code))
    }
}
