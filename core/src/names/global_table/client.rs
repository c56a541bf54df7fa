//! The table of global functions of a kernel library: that of the loaded `libtvm_ffi`, through its
//! C functions.

use core::ffi::c_int;
use core::ptr::{self, NonNull};

use crate::abi::{TVMFFIByteArray, client};
use crate::call::function::{Function, check_status};
use crate::error::Result;
use crate::object::{ObjectClass, ObjectRef};

/// Looks up a function by name. Returns `None` if it does not exist.
///
/// # Errors
/// MemoryError.
pub fn get(name: &[u8]) -> Result<Option<Function>> {
    let mut handle = ptr::null_mut();
    // SAFETY: both pointers are valid for the call; the returned reference is owned here.
    let status =
        unsafe { client::TVMFFIFunctionGetGlobal(&TVMFFIByteArray::from_slice(name), &mut handle) };
    check_status(status)?;
    // SAFETY: as above; the table holds functions only.
    Ok(NonNull::new(handle.cast())
        .map(|object| unsafe { Function::from_object_unchecked(ObjectRef::from_raw(object)) }))
}

/// Registers a function.
///
/// # Errors
/// RuntimeError if the name is taken and `allow_override` is false; MemoryError.
pub fn set(name: &[u8], function: &Function, allow_override: bool) -> Result<()> {
    let name = TVMFFIByteArray::from_slice(name);
    let handle = function.as_object().as_ptr().cast();
    // SAFETY: the pointers are valid for the call, which retains the function itself.
    check_status(unsafe {
        client::TVMFFIFunctionSetGlobal(&name, handle, c_int::from(allow_override))
    })
}
