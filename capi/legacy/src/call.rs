//! `TVMFuncCall`: calls functions with arguments and results of the legacy API.

use core::ffi::c_int;
use core::mem::MaybeUninit;

use ferrite_core::abi::{TVMFFIAny, TVMFFIFunctionCell, TVMFFIObject, type_index};
use ferrite_core::platform::memory::Buffer;
use ferrite_core::{Any, Function};

use super::crossing::Views;
use super::{argument, result};
use ferrite_boundary::{self as boundary, arg};
use ferrite_core::abi::packed::{TVMFunctionHandle, TVMValue};

/// Maximum number of arguments that are converted in a buffer on the stack.
const INLINE_ARGUMENTS: usize = 16;

/// Calls a function.
///
/// Arguments are borrowed. The caller owns an object result. A string, byte-array or data-type (as
/// a string) result is stored in a thread-local slot until the thread's next call that returns one
/// of them.
///
/// Returns 0 on success. Returns -1 with an error raised otherwise: the function's own, TypeError
/// for an argument or a result that cannot be converted, ValueError for a null pointer or a
/// negative count, or MemoryError.
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
    // SAFETY: a non-null handle is a live object.
    let is_function = unsafe { !object.is_null() && (*object).type_index == type_index::FUNCTION };
    let count = num_args as usize;
    // Two addresses with a common bit are both non-null. Other pairs take the slow path.
    let has_all =
        arg_values.addr() & type_codes.addr() != 0 && ret_val.addr() & ret_type_code.addr() != 0;
    if is_function && has_all && count <= INLINE_ARGUMENTS {
        let mut cells = [const { MaybeUninit::<TVMFFIAny>::uninit() }; INLINE_ARGUMENTS];
        // SAFETY: there are as many values and codes as cells.
        let are_plain = unsafe { argument::write_plain(arg_values, type_codes, &mut cells, count) };
        if are_plain {
            // SAFETY: `count` cells are written, and the handle is a function.
            return unsafe {
                call(object, cells.as_ptr().cast(), num_args, ret_val, ret_type_code)
            };
        }
    }
    // In tail position, so that no state is saved across it.
    // SAFETY: the caller's promise.
    unsafe { call_carefully(func, arg_values, type_codes, num_args, ret_val, ret_type_code) }
}

/// Calls a function with tvm-ffi arguments, and converts its result to a value of the legacy API.
/// Returns the status code.
///
/// # Safety
/// `function` must be a live function, the arguments must be valid, and the out-parameters
/// writable.
#[inline(always)]
unsafe fn call(
    function: *mut TVMFFIObject,
    args: *const TVMFFIAny,
    num_args: c_int,
    ret_val: *mut TVMValue,
    ret_type_code: *mut c_int,
) -> c_int {
    let mut returned = TVMFFIAny::NONE;
    // SAFETY: the cell follows the header of every function and has a safe call (ABI). Its result
    // is owned.
    unsafe {
        let cell = function.add(1).cast::<TVMFFIFunctionCell>();
        let safe_call = (*cell).safe_call.unwrap_unchecked();
        let status = safe_call(function.cast(), args, num_args, &mut returned);
        if status != 0 {
            return status;
        }
        if let Some(type_code) = result::plain_type_code(returned.type_index) {
            (*ret_val).v_bits = returned.payload.v_uint64;
            ret_type_code.write(type_code);
            return boundary::SUCCESS;
        }
        store_result(returned, ret_val, ret_type_code)
    }
}

/// Slow path for results: stores a result that needs a conversion in the out-parameters. Returns
/// the status code.
///
/// # Safety
/// `returned` must be an owned value, and the out-parameters must be writable.
#[inline(never)]
unsafe fn store_result(
    returned: TVMFFIAny,
    ret_val: *mut TVMValue,
    ret_type_code: *mut c_int,
) -> c_int {
    boundary::status(|| {
        // SAFETY: the caller's promise.
        unsafe {
            let (value, type_code) = result::transfer(Any::from_raw(returned))?;
            ret_val.write(value);
            ret_type_code.write(type_code);
        }
        Ok(())
    })
}

/// Slow path of [`TVMFuncCall`]: checks all pointers, and converts any number of arguments of any
/// type.
///
/// # Safety
/// Same requirements as [`TVMFuncCall`].
#[inline(never)]
unsafe extern "C" fn call_carefully(
    func: TVMFunctionHandle,
    arg_values: *const TVMValue,
    type_codes: *const c_int,
    num_args: c_int,
    ret_val: *mut TVMValue,
    ret_type_code: *mut c_int,
) -> c_int {
    boundary::status_of(|| {
        // SAFETY: the caller's promise.
        unsafe {
            boundary::object_of::<Function>(func, arg(1, "func"))?;
            let values = boundary::slice(arg_values, num_args, arg(2, "arg_values"))?;
            let codes = boundary::slice(type_codes, num_args, arg(3, "type_codes"))?;
            boundary::non_null(ret_val, arg(5, "ret_val"))?;
            boundary::non_null(ret_type_code, arg(6, "ret_type_code"))?;
            let mut inline = [const { MaybeUninit::<TVMFFIAny>::uninit() }; INLINE_ARGUMENTS];
            let mut heap = Buffer::new();
            let mut views = Views::new();
            let args: *mut TVMFFIAny = if values.len() <= INLINE_ARGUMENTS {
                inline.as_mut_ptr().cast()
            } else {
                heap.try_reserve(values.len())?;
                heap.as_mut_ptr()
            };
            for (index, (value, type_code)) in values.iter().zip(codes).enumerate() {
                args.add(index).write(argument::view(*value, *type_code, index, &mut views)?);
            }
            Ok(call(func.cast(), args, num_args, ret_val, ret_type_code))
        }
    })
}
