//! Symbols of the header section "Basic function calling API": function objects, calls and the
//! global function table.

use core::ffi::{c_int, c_void};
use core::ptr;

use ferrite_core::Function;
use ferrite_core::abi::{
    TVMFFIAny, TVMFFIByteArray, TVMFFIFunctionCell, TVMFFIMethodInfo, TVMFFIObject,
    TVMFFIObjectHandle, TVMFFISafeCallType, type_index,
};
use ferrite_core::error::Result;
use ferrite_core::names::global_table;
use ferrite_core::object::ObjectClass;
use ferrite_core::value::any::{self, AnyView};

use crate::boundary::{self, arg};
use crate::builtins;

/// Creates a function object from a C function and a context pointer.
///
/// The function object owns `self`, and calls `deleter` with it when it is destroyed. `deleter` may
/// be null. On failure, the caller still owns `self`.
///
/// Returns 0 and stores the new object, owned by the caller, in `out`. On failure, returns -1 with
/// ValueError or MemoryError raised.
///
/// # Safety
/// `safe_call` and `deleter` must be callable on any thread, with `self`, while the object lives.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFIFunctionCreate(
    self_: *mut c_void,
    safe_call: Option<TVMFFISafeCallType>,
    deleter: Option<unsafe extern "C" fn(self_: *mut c_void)>,
    out: *mut TVMFFIObjectHandle,
) -> c_int {
    boundary::status(|| {
        // SAFETY: contract of the crate.
        let out = unsafe { boundary::out(out, arg(4, "out"))? };
        let safe_call = boundary::callback(safe_call, arg(2, "safe_call"))?;
        // SAFETY: the caller transfers `self` and functions that fit it.
        let function = unsafe { Function::from_extern_c(self_, safe_call, deleter)? };
        out.write_object(Some(function));
        Ok(())
    })
}

/// Finds a global function by name.
///
/// Returns 0 and stores the function, owned by the caller, in `out`, or null if it does not exist.
/// On failure, returns -1 with ValueError or MemoryError raised.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFIFunctionGetGlobal(
    name: *const TVMFFIByteArray,
    out: *mut TVMFFIObjectHandle,
) -> c_int {
    // A function in the table, or an unknown name, needs neither memory nor an error.
    if !name.is_null() && !out.is_null() {
        // SAFETY: neither is null, and contract of the crate.
        let found = unsafe { boundary::valid_bytes(&*name) }.and_then(global_table::get_fast);
        if let Some(function) = found {
            let object =
                function.map_or(ptr::null_mut(), |found| found.into_object().into_raw().as_ptr());
            // SAFETY: as above.
            unsafe { out.write(object.cast()) };
            return boundary::SUCCESS;
        }
    }
    boundary::status(|| {
        // SAFETY: contract of the crate.
        let (name, out) =
            unsafe { (boundary::bytes(name, arg(1, "name"))?, boundary::out(out, arg(2, "out"))?) };
        builtins::ensure_installed();
        out.write_object(global_table::get(name)?);
        Ok(())
    })
}

/// Converts a borrowed value into an owned one.
///
/// Raw strings and byte arrays are copied, objects are retained, and an object passed as
/// `kTVMFFIObjectRValueRef` is moved. `kTVMFFIDLTensorPtr` is copied as a pointer: the caller
/// guarantees that the tensor outlives the copy. `out` is overwritten without being released.
///
/// Returns 0 and stores the value, owned by the caller, in `out`. On failure, returns -1 with an
/// error raised: ValueError for a null pointer, TypeError for an invalid type index, InternalError
/// for an object that was moved before, MemoryError.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFIAnyViewToOwnedAny(
    any_view: *const TVMFFIAny,
    out: *mut TVMFFIAny,
) -> c_int {
    // Most values need neither a copy nor an error.
    if boundary::FAST_PATHS && !any_view.is_null() && !out.is_null() {
        // SAFETY: neither is null, and contract of the crate.
        if let Some(owned) = unsafe { AnyView::from_raw(*any_view) }.retain() {
            // SAFETY: as above.
            unsafe { out.write(owned.into_raw()) };
            return boundary::SUCCESS;
        }
        // SAFETY: as above; the view needs a copy.
        return boundary::status(|| unsafe { copy_value(any_view, out) });
    }
    boundary::status(|| {
        let view = boundary::non_null(any_view, arg(1, "any_view"))?.as_ptr();
        // SAFETY: contract of the crate.
        unsafe {
            let out = boundary::out(out, arg(2, "out"))?.as_ptr();
            copy_value(view, out)
        }
    })
}

/// Converts a value into an owned one. With [`boundary::FAST_PATHS`], the value must be one for
/// which [`AnyView::retain`] returns `None`.
///
/// # Errors
/// The errors of `TVMFFIAnyViewToOwnedAny`.
///
/// # Safety
/// See the crate.
unsafe fn copy_value(view: *const TVMFFIAny, out: *mut TVMFFIAny) -> Result<()> {
    // SAFETY: the caller's promise.
    unsafe {
        if (*view).type_index == type_index::DL_TENSOR_PTR {
            // As upstream: the caller guarantees that the tensor outlives the copy.
            out.write(view.read());
            return Ok(());
        }
        if boundary::FAST_PATHS {
            any::write_owned_slow(view, out)
        } else {
            any::write_owned_at(view, out)
        }
    }
}

/// Calls a function object.
///
/// `args` are borrowed during the call. On entry, `*result` must be a value that needs no release,
/// normally `kTVMFFINone`. On success, it is a value owned by the caller.
///
/// Returns 0 on success. Returns -1 with an error raised otherwise: the function's own error,
/// TypeError if `func` is not a function, or ValueError for a null pointer or a negative count.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFIFunctionCall(
    func: TVMFFIObjectHandle,
    args: *mut TVMFFIAny,
    num_args: i32,
    result: *mut TVMFFIAny,
) -> c_int {
    let object = func.cast::<TVMFFIObject>();
    // SAFETY: a non-null handle points to a live object.
    let is_function = unsafe { !object.is_null() && (*object).type_index == type_index::FUNCTION };
    // Two addresses with a common bit are both non-null, which a single test shows. Other pairs of
    // addresses, and negative counts, which have the top bit set, take the slow path.
    let has_both = args.addr() & result.addr() != 0;
    if is_function && num_args >= 0 && has_both {
        // SAFETY: a function object has its cell, with a call in it, after the header. In tail
        // position, so that this is a jump.
        return unsafe { call_cell(func, args, num_args, result) };
    }
    // SAFETY: the caller's promise.
    unsafe { call_checked(func, args, num_args, result) }
}

/// Calls a function object without checking the arguments.
///
/// # Safety
/// `func` must be a function object, and the other arguments must be valid as for
/// [`TVMFFIFunctionCall`].
#[inline(always)]
unsafe fn call_cell(
    func: TVMFFIObjectHandle,
    args: *mut TVMFFIAny,
    num_args: i32,
    result: *mut TVMFFIAny,
) -> c_int {
    // SAFETY: the caller guarantees the object; every function object has a safe call (ABI).
    unsafe {
        let cell = func.cast::<TVMFFIObject>().add(1).cast::<TVMFFIFunctionCell>();
        (*cell).safe_call.unwrap_unchecked()(func, args, num_args, result)
    }
}

/// Slow path of [`TVMFFIFunctionCall`]: checks all arguments, then calls the function or raises an
/// error.
///
/// # Safety
/// Same requirements as [`TVMFFIFunctionCall`].
#[cold]
#[inline(never)]
unsafe extern "C" fn call_checked(
    func: TVMFFIObjectHandle,
    args: *mut TVMFFIAny,
    num_args: i32,
    result: *mut TVMFFIAny,
) -> c_int {
    // SAFETY: the caller's promise; the call is made only if all arguments are valid.
    unsafe {
        match check_call(func, args, num_args, result) {
            Ok(()) => call_cell(func, args, num_args, result),
            Err(error) => boundary::fail(error),
        }
    }
}

/// Checks the arguments of [`TVMFFIFunctionCall`].
///
/// # Safety
/// Same requirements as [`TVMFFIFunctionCall`].
unsafe fn check_call(
    func: TVMFFIObjectHandle,
    args: *const TVMFFIAny,
    num_args: i32,
    result: *mut TVMFFIAny,
) -> Result<()> {
    // SAFETY: the caller's promise.
    unsafe {
        boundary::object_of::<Function>(func, arg(1, "func"))?;
        boundary::slice(args, num_args, arg(2, "args"))?;
        boundary::out(result, arg(4, "result"))?;
    }
    Ok(())
}

/// Registers a global function under a name.
///
/// The global function table retains `f`. Returns 0, or -1 with an error raised: RuntimeError if
/// the name is taken and `allow_override` is 0, TypeError if `f` is not a function, ValueError for
/// a null pointer, or MemoryError.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFIFunctionSetGlobal(
    name: *const TVMFFIByteArray,
    f: TVMFFIObjectHandle,
    allow_override: c_int,
) -> c_int {
    boundary::status(|| {
        // SAFETY: contract of the crate.
        unsafe { set_global(name, f, None, allow_override) }
    })
}

/// Registers a global function with its documentation and metadata.
///
/// Name, function, documentation and metadata come from `method_info`. Strings are copied.
/// Ownership, result and errors are those of `TVMFFIFunctionSetGlobal`.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFIFunctionSetGlobalFromMethodInfo(
    method_info: *const TVMFFIMethodInfo,
    allow_override: c_int,
) -> c_int {
    boundary::status(|| {
        // SAFETY: contract of the crate.
        let info = unsafe { boundary::reference(method_info, arg(1, "method_info"))? };
        // SAFETY: contract of the crate: non-null pointers are readable.
        let texts = unsafe {
            [
                boundary::bytes(&info.doc, arg(1, "method_info->doc"))?,
                boundary::bytes(&info.metadata, arg(1, "method_info->metadata"))?,
            ]
        };
        if info.method.type_index != type_index::FUNCTION {
            let found = info.method.type_index;
            return Err(boundary::wrong_class(
                arg(1, "method_info->method"),
                type_index::FUNCTION,
                found,
            ));
        }
        // SAFETY: as above; a function is an object.
        unsafe {
            set_global(&info.name, info.method.payload.v_obj.cast(), Some(texts), allow_override)
        }
    })
}

/// Registers a global function, with documentation and metadata if given. Size-optimised builds
/// discard documentation and metadata, and share one copy of this function.
///
/// # Safety
/// Same requirements as the C symbols.
#[cfg_attr(feature = "speed", inline(always))]
#[cfg_attr(not(feature = "speed"), inline(never))]
unsafe fn set_global(
    name: *const TVMFFIByteArray,
    function: TVMFFIObjectHandle,
    texts: Option<[&[u8]; 2]>,
    allow_override: c_int,
) -> Result<()> {
    let [name_is, function_is] = match texts {
        None => [arg(1, "name"), arg(2, "f")],
        // With the argument numbers of the other symbol, since size-optimised builds share one
        // body.
        Some(_) => [arg(1, "method_info->name"), arg(2, "method_info->method")],
    };
    // SAFETY: the caller's promise.
    let (name, function) = unsafe {
        (boundary::bytes(name, name_is)?, boundary::object_of::<Function>(function, function_is)?)
    };
    builtins::ensure_installed();
    match texts {
        None => global_table::set(name, &function, allow_override != 0),
        Some([doc, metadata]) => {
            global_table::set_with_docs(name, &function, doc, metadata, allow_override != 0)
        }
    }
}
