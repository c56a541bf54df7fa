//! Function objects over a C function and its state.

use core::ffi::{c_int, c_void};
use core::ptr::{self, NonNull};

use super::capacity;
use super::function_object::FunctionObject;
use super::pool::{ObjectPool, PoolObject};
use super::refusal::{Refusal, Result};
use ferrite_core::abi::{
    TVMFFIAny, TVMFFIFunctionCell, TVMFFIObject, TVMFFISafeCallType, type_index,
};

// SAFETY: it starts with the header; a zero slot is not read before it is filled.
unsafe impl PoolObject for FunctionObject {}

static POOL: ObjectPool<FunctionObject, { capacity::FUNCTIONS }> = ObjectPool::new();

/// Creates a function object, owned by the caller. The object owns `state`, and passes it to
/// `deleter` when it is destroyed.
///
/// # Errors
/// MemoryError if `FERRITE_FUNCTIONS` function objects are alive.
///
/// # Safety
/// `safe_call` and `deleter` must accept `state` as long as the object lives.
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

/// The safe call of function objects: calls the C function with its state in place of the object.
unsafe extern "C" fn call(
    function: *mut c_void,
    args: *const TVMFFIAny,
    num_args: i32,
    result: *mut TVMFFIAny,
) -> c_int {
    let slot = function.cast::<FunctionObject>();
    // SAFETY: a function object is called with itself as handle; its creator guaranteed the
    // function.
    unsafe { ((*slot).safe_call)((*slot).state, args, num_args, result) }
}
