//! Function objects around a C function and its state.

use core::ffi::{c_int, c_void};
use core::ptr::{self, NonNull};

use super::pool::{ObjectPool, PoolObject};
use super::refusal::{Refusal, Result};
use crate::abi::{TVMFFIAny, TVMFFIFunctionCell, TVMFFIObject, TVMFFISafeCallType};
use crate::{config, type_index};

/// A function object, and what it owns.
#[repr(C, align(8))]
struct FunctionObject {
    header: TVMFFIObject,
    cell: TVMFFIFunctionCell,
    state: *mut c_void,
    safe_call: TVMFFISafeCallType,
    deleter: Option<unsafe extern "C" fn(state: *mut c_void)>,
}

// SAFETY: it starts with the header; a slot of zeros is not read before it is filled.
unsafe impl PoolObject for FunctionObject {}

static POOL: ObjectPool<FunctionObject, { config::FUNCTIONS }> = ObjectPool::new();

/// Makes a function object, which the caller owns. It owns `state`, which `deleter` takes back.
///
/// # Errors
/// MemoryError when `FERRITE_FUNCTIONS` are alive.
///
/// # Safety
/// `safe_call` and `deleter` may be called with `state` while the object lives.
///
/// # Upstream
/// `TVMFFIFunctionCreate`.
#[inline(always)]
pub unsafe fn create(
    state: *mut c_void,
    safe_call: TVMFFISafeCallType,
    deleter: Option<unsafe extern "C" fn(state: *mut c_void)>,
) -> Result<NonNull<TVMFFIObject>> {
    let Some(slot) = POOL.claim(type_index::FUNCTION) else { return Err(Refusal::FUNCTIONS) };
    // SAFETY: the slot was claimed.
    unsafe {
        let slot = slot.as_ptr();
        (*slot).cell = TVMFFIFunctionCell { safe_call: Some(call), cpp_call: ptr::null_mut() };
        (*slot).state = state;
        (*slot).safe_call = safe_call;
        (*slot).deleter = deleter;
    }
    Ok(slot.cast())
}

/// Passes a call on, with the state in place of the object.
unsafe extern "C" fn call(
    function: *mut c_void,
    args: *const TVMFFIAny,
    num_args: i32,
    result: *mut TVMFFIAny,
) -> c_int {
    let slot = function.cast::<FunctionObject>();
    // SAFETY: the cell of a slot is called with the slot; its maker vouched for the function.
    unsafe { ((*slot).safe_call)((*slot).state, args, num_args, result) }
}

/// Gives the state back.
///
/// # Safety
/// `function` came from [`create`], and nobody will call it.
#[inline(always)]
pub(super) unsafe fn end(function: *mut TVMFFIObject) {
    let slot = function.cast::<FunctionObject>();
    // SAFETY: the maker of the slot vouched for the deleter.
    unsafe {
        if let Some(deleter) = (*slot).deleter {
            deleter((*slot).state);
        }
    }
}
