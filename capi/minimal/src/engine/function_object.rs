//! The record of function objects.

use core::ffi::c_void;

use ferrite_core::abi::{TVMFFIFunctionCell, TVMFFIObject, TVMFFISafeCallType};

/// The record of a function object, which owns the state of a C function.
#[repr(C, align(8))]
pub(super) struct FunctionObject {
    pub(super) header: TVMFFIObject,
    pub(super) cell: TVMFFIFunctionCell,
    pub(super) state: *mut c_void,
    pub(super) safe_call: TVMFFISafeCallType,
    pub(super) deleter: Option<unsafe extern "C" fn(state: *mut c_void)>,
}

/// Passes the state of a destroyed function object to its deleter.
///
/// # Safety
/// `function` must come from [`create`](super::function::create) and not be called any more.
#[inline(always)]
pub(super) unsafe fn end(function: *mut TVMFFIObject) {
    let slot = function.cast::<FunctionObject>();
    // SAFETY: the creator of the object guaranteed the deleter.
    unsafe {
        if let Some(deleter) = (*slot).deleter {
            deleter((*slot).state);
        }
    }
}
