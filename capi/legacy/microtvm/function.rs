//! Calls of functions, and global functions.
//!
//! The handle of a function is a function object of tvm-ffi, or an entry of a table in generated code: its address with
//! the lowest bit set, which no object has. Entries need not be freed, and calls of them convert nothing.

use core::ffi::{c_char, c_int, c_void};
use core::mem::MaybeUninit;
use core::ptr;

use ferrite_core::abi::{TVMFFIAny, TVMFFIByteArray, TVMFFIObject, TVMFFIObjectHandle};
use ferrite_core::type_index;

use super::abi::{TVMFunctionHandle, TVMValue};
use super::error::{bad_argument, ensure_raised, fail};
use super::registry::{PackedFunction, TVMBackendPackedCFunc};
use super::tvm_ffi::{
    TVMFFIErrorSetRaisedFromCStrParts, TVMFFIFunctionCall, TVMFFIFunctionCreate, TVMFFIFunctionGetGlobal,
    TVMFFIFunctionSetGlobal, TVMFFIObjectDecRef,
};
use super::{code, value};

/// Maximum number of arguments of a call between tvm-ffi and old code. Calls of entries have no limit.
const MOST_ARGUMENTS: usize = 16;

const ENTRY: usize = 1;

/// Returns the handle of an entry of a table.
pub(super) fn handle_of(entry: *const TVMBackendPackedCFunc) -> TVMFunctionHandle {
    entry.cast_mut().cast::<c_void>().map_addr(|address| address | ENTRY)
}

/// Returns `true` if a handle belongs to an entry of a table.
pub(super) fn is_entry(handle: TVMFunctionHandle) -> bool {
    handle.addr() & ENTRY != 0
}

/// Calls a function.
///
/// Arguments are borrowed. The caller owns a function result. Calls between old code and tvm-ffi have at most 16
/// arguments, and results are numbers, handles, data types, devices or functions.
///
/// Returns 0; or -1 with the error of the function, a TypeError for an unknown type code, a ValueError for a null
/// pointer or a negative count.
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
    let has_all = num_args == 0 || (num_args > 0 && !arg_values.is_null() && !type_codes.is_null());
    if ret_val.is_null() || ret_type_code.is_null() || !has_all {
        return bad_argument();
    }
    if !is_entry(func) {
        // SAFETY: a handle other than an entry is an object; contract of the crate.
        return unsafe { call_object(func, arg_values, type_codes, num_args, ret_val, ret_type_code) };
    }
    // SAFETY: an entry of a valid table; contract of the crate.
    unsafe {
        let entry = func.map_addr(|address| address & !ENTRY).cast::<TVMBackendPackedCFunc>();
        let Some(packed) = *entry else { return bad_argument() };
        let (mut value, mut type_code) = (TVMValue::of_bits(0), code::NULL);
        if call_packed(packed, arg_values, type_codes, num_args, &mut value, &mut type_code) != 0 {
            return -1;
        }
        ret_val.write(value);
        ret_type_code.write(type_code);
    }
    0
}

/// Calls compiled code. A failure always leaves an error raised.
///
/// # Safety
/// As for [`TVMFuncCall`].
unsafe fn call_packed(
    packed: PackedFunction,
    values: *mut TVMValue,
    codes: *mut c_int,
    count: c_int,
    ret_val: *mut TVMValue,
    ret_type_code: *mut c_int,
) -> c_int {
    // SAFETY: the caller's promise.
    let status = unsafe { packed(values, codes, count, ret_val, ret_type_code, ptr::null_mut()) };
    if status != 0 {
        ensure_raised();
        return -1;
    }
    0
}

/// Calls a function of tvm-ffi with values of the API.
///
/// # Safety
/// As for [`TVMFuncCall`]; the handle is an object, and the pointers are not null.
#[inline(never)]
unsafe fn call_object(
    func: TVMFunctionHandle,
    values: *const TVMValue,
    codes: *const c_int,
    num_args: c_int,
    ret_val: *mut TVMValue,
    ret_type_code: *mut c_int,
) -> c_int {
    let count = num_args as usize;
    if count > MOST_ARGUMENTS {
        return too_many();
    }
    let mut args = [const { MaybeUninit::<TVMFFIAny>::uninit() }; MOST_ARGUMENTS];
    let args: *mut TVMFFIAny = args.as_mut_ptr().cast();
    let mut result = TVMFFIAny::NONE;
    // SAFETY: the caller's promise; the array has space for `count` arguments.
    unsafe {
        for at in 0..count {
            let Some(view) = value::view(*values.add(at), *codes.add(at)) else { return unknown_code() };
            args.add(at).write(view);
        }
        if TVMFFIFunctionCall(func, args, num_args, &mut result) != 0 {
            return -1;
        }
        match value::show(&result) {
            Some((value, type_code)) if value::may_be_result(type_code) => {
                ret_val.write(value);
                ret_type_code.write(type_code);
                0
            }
            _ => {
                if type_index::is_object(result.type_index) {
                    TVMFFIObjectDecRef(result.payload.v_obj.cast());
                }
                fail(c"TypeError", c"a result has no type code")
            }
        }
    }
}

/// The safe call of a function object over old code; `state` is the compiled function.
///
/// # Safety
/// As the ABI requires of a safe call.
unsafe extern "C" fn call_from_ffi(
    state: *mut c_void,
    args: *const TVMFFIAny,
    num_args: i32,
    result: *mut TVMFFIAny,
) -> c_int {
    let count = num_args as usize;
    if count > MOST_ARGUMENTS {
        return too_many();
    }
    let mut values = [const { MaybeUninit::<TVMValue>::uninit() }; MOST_ARGUMENTS];
    let mut codes = [const { MaybeUninit::<c_int>::uninit() }; MOST_ARGUMENTS];
    let (values, codes): (*mut TVMValue, *mut c_int) =
        (values.as_mut_ptr().cast(), codes.as_mut_ptr().cast());
    let (mut value, mut type_code) = (TVMValue::of_bits(0), code::NULL);
    // SAFETY: the caller vouches for the arguments, and the arrays have space for `count` of them. The state is a
    // compiled function, as its registration promised.
    unsafe {
        for at in 0..count {
            let Some((value, type_code)) = value::show(&*args.add(at)) else {
                return fail(c"TypeError", c"an argument has no type code");
            };
            values.add(at).write(value);
            codes.add(at).write(type_code);
        }
        let packed = core::mem::transmute::<*mut c_void, PackedFunction>(state);
        if call_packed(packed, values, codes, num_args, &mut value, &mut type_code) != 0 {
            return -1;
        }
        match value::view(value, type_code) {
            Some(view) if value::may_be_result(type_code) => {
                result.write(view);
                0
            }
            _ => unknown_code(),
        }
    }
}

#[cold]
#[inline(never)]
fn too_many() -> c_int {
    fail(c"TypeError", c"more than 16 arguments")
}

#[cold]
#[inline(never)]
fn unknown_code() -> c_int {
    fail(c"TypeError", c"a type code has no value")
}

/// Creates the byte array of a C string; null data with a size, which tvm-ffi refuses, for null.
///
/// # Safety
/// `text` is null or a C string.
unsafe fn bytes_of(text: *const c_char) -> TVMFFIByteArray {
    let mut size = 0;
    if text.is_null() {
        return TVMFFIByteArray { data: text, size: 1 };
    }
    // SAFETY: the caller's promise. Opaque, since the compiler would call `strlen` otherwise, which `minimal` lacks.
    while core::hint::black_box(unsafe { *text.add(size) }) != 0 {
        size += 1;
    }
    TVMFFIByteArray { data: text, size }
}

/// Finds a global function.
///
/// Returns 0 and the function, which the caller frees, in `out`, or null there if it does not exist; or -1.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFuncGetGlobal(name: *const c_char, out: *mut TVMFunctionHandle) -> c_int {
    // SAFETY: contract of the crate.
    unsafe { TVMFFIFunctionGetGlobal(&bytes_of(name), out) }
}

/// Registers a compiled function as a global function. Unlike on hosts, `f` is its address.
///
/// The name must stay valid in the profile `minimal`, and is copied otherwise. Returns 0; or -1, also for a taken name
/// unless `override_` is not 0.
///
/// # Safety
/// `f` is null or the address of a packed function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFuncRegisterGlobal(
    name: *const c_char,
    f: TVMFunctionHandle,
    override_: c_int,
) -> c_int {
    if f.is_null() {
        return bad_argument();
    }
    let mut function: TVMFFIObjectHandle = ptr::null_mut();
    // SAFETY: the caller vouches for the function; the new object is owned here.
    unsafe {
        if TVMFFIFunctionCreate(f, Some(call_from_ffi), None, &mut function) != 0 {
            return -1;
        }
        let status = TVMFFIFunctionSetGlobal(&bytes_of(name), function, override_);
        TVMFFIObjectDecRef(function);
        status
    }
}

/// Releases a function. Null is accepted, and functions of modules are ignored.
///
/// # Safety
/// See the crate; the caller transfers the reference.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFuncFree(func: TVMFunctionHandle) -> c_int {
    if func.is_null() || is_entry(func) {
        return 0;
    }
    // SAFETY: contract of this function.
    unsafe { TVMFFIObjectDecRef(func.cast::<TVMFFIObject>().cast()) }
}

/// Finds a global function for compiled code, and retains it forever. `mod_node` is ignored.
///
/// Returns 0 and the function in `out`; or -1.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMBackendGetFuncFromEnv(
    mod_node: *mut c_void,
    func_name: *const c_char,
    out: *mut TVMFunctionHandle,
) -> c_int {
    let _ = mod_node;
    if out.is_null() {
        return bad_argument();
    }
    let mut function = ptr::null_mut();
    // SAFETY: contract of the crate.
    unsafe {
        if TVMFuncGetGlobal(func_name, &mut function) != 0 {
            return -1;
        }
        if function.is_null() {
            return not_found(func_name);
        }
        out.write(function);
    }
    0
}

/// Raises the error of an unknown function.
///
/// # Safety
/// `name` is a C string.
#[cold]
pub(super) unsafe fn not_found(name: *const c_char) -> c_int {
    let mut parts = [c"Cannot find function ".as_ptr(), name];
    // SAFETY: the caller's promise.
    unsafe { TVMFFIErrorSetRaisedFromCStrParts(c"TVMError".as_ptr(), parts.as_mut_ptr(), 2) };
    -1
}
