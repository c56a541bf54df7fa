//! Global functions of the legacy API: lookup, listing, registration and removal.

use core::ffi::{c_char, c_int};

use ferrite_core::abi::{TVMFFIObject, TVMFFIObjectHandle};
use ferrite_core::error::Result;
use ferrite_core::names::global_table;
use ferrite_core::object::ObjectRef;
use ferrite_core::{Function, plain_bail};

use super::thread::{self, Names, no_slots};
use ferrite_boundary::{self as boundary, arg};
use ferrite_core::abi::packed::TVMFunctionHandle;

/// Finds a global function by name.
///
/// Returns 0 and stores the function, owned by the caller, in `out`, or null if there is none. On
/// failure, returns -1 with an error raised.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFuncGetGlobal(
    name: *const c_char,
    out: *mut TVMFunctionHandle,
) -> c_int {
    boundary::status(|| {
        // SAFETY: contract of the crate.
        let (name, out) =
            unsafe { (boundary::c_str(name, arg(1, "name"))?, boundary::out(out, arg(2, "out"))?) };
        boundary::ensure_installed();
        out.write_object(global_table::get(name)?);
        Ok(())
    })
}

/// Lists the names of all global functions, in no particular order.
///
/// The list belongs to the calling thread, and is valid until the thread calls this function again.
///
/// Returns 0, or -1 with an error raised.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFuncListGlobalNames(
    out_size: *mut c_int,
    out_array: *mut *mut *const c_char,
) -> c_int {
    boundary::status(|| {
        // SAFETY: contract of the crate.
        let (out_size, out_array) = unsafe {
            (
                boundary::out(out_size, arg(1, "out_size"))?,
                boundary::out(out_array, arg(2, "out_array"))?,
            )
        };
        boundary::ensure_installed();
        let mut names = Names::new();
        global_table::names(&mut |name| names.push(name))?;
        let (count, array) = names.finish()?;
        thread::with(|slots| slots.functions.replace(names)).ok_or_else(no_slots)?;
        out_size.write(count);
        out_array.write(array);
        Ok(())
    })
}

/// Registers a global function under a name. The global function table retains it.
///
/// Returns 0, or -1 with an error raised: InternalError if the name is taken and `override` is 0.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFuncRegisterGlobal(
    name: *const c_char,
    f: TVMFunctionHandle,
    override_: c_int,
) -> c_int {
    boundary::status(|| {
        // SAFETY: contract of the crate.
        let (name, function) = unsafe {
            (
                boundary::c_str(name, arg(1, "name"))?,
                boundary::object_of::<Function>(f, arg(2, "f"))?,
            )
        };
        boundary::ensure_installed();
        if override_ == 0 && global_table::get(name)?.is_some() {
            // Not a Python exception kind, so that front ends raise their own error.
            plain_bail!(INTERNAL_ERROR, "Global PackedFunc {} is already registered", name);
        }
        global_table::set(name, &function, override_ != 0)
    })
}

/// Removes a global function. Returns 0, also if the name is unknown, or -1 with an error raised.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFuncRemoveGlobal(name: *const c_char) -> c_int {
    boundary::status(|| {
        // SAFETY: contract of the crate.
        let name = unsafe { boundary::c_str(name, arg(1, "name"))? };
        boundary::ensure_installed();
        global_table::remove(name).map(drop)
    })
}

/// Releases a reference to an object of any class. Null is ignored. Returns 0.
///
/// # Safety
/// The caller transfers the reference.
pub(super) unsafe fn free(handle: TVMFFIObjectHandle) -> c_int {
    boundary::status(|| {
        if let Some(object) = core::ptr::NonNull::new(handle.cast::<TVMFFIObject>()) {
            // SAFETY: contract of this function.
            drop(unsafe { ObjectRef::from_raw(object) });
        }
        Result::Ok(())
    })
}

/// Releases a reference to a function. Null is ignored. Returns 0.
///
/// # Safety
/// The caller transfers the reference.
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFuncFree(func: TVMFunctionHandle) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { free(func) }
}
