//! Function objects that call functions of JavaScript.

use core::ffi::{c_int, c_void};
use core::mem::MaybeUninit;

use ferrite_core::Function;
use ferrite_core::abi::TVMFFIAny;
use ferrite_core::error::{Result, raised_error};
use ferrite_core::platform::memory::Buffer;

use crate::imports::{TVMFFIWasmFunctionDeleter, TVMFFIWasmSafeCall};

/// Number of arguments that are copied on the stack. More are copied to the heap.
const ARGUMENTS_ON_STACK: usize = 8;

/// Creates a function object for an entry of JavaScript's function table. The object owns the
/// entry.
///
/// # Errors
/// MemoryError.
///
/// # Safety
/// The entry must stay in the table until the object removes it.
pub unsafe fn create(entry: *mut c_void) -> Result<Function> {
    // SAFETY: the functions take an entry of the table, which the caller guarantees.
    unsafe { Function::from_extern_c(entry, call, Some(TVMFFIWasmFunctionDeleter)) }
}

/// Calls JavaScript with a copy of the arguments, since JavaScript overwrites them and a caller may
/// pass its arguments on more than once.
///
/// # Safety
/// The arguments must be those of a safe call.
unsafe extern "C" fn call(
    entry: *mut c_void,
    args: *const TVMFFIAny,
    count: i32,
    result: *mut TVMFFIAny,
) -> c_int {
    let args = match usize::try_from(count) {
        // SAFETY: the caller guarantees the arguments (ABI).
        Ok(count) if count > 0 => unsafe { core::slice::from_raw_parts(args, count) },
        _ => &[],
    };
    let mut on_stack = [const { MaybeUninit::<TVMFFIAny>::uninit() }; ARGUMENTS_ON_STACK];
    if args.len() <= ARGUMENTS_ON_STACK {
        for (to, from) in on_stack.iter_mut().zip(args) {
            to.write(*from);
        }
        // SAFETY: as many arguments as are passed are initialised; the caller guarantees the rest.
        return unsafe { TVMFFIWasmSafeCall(entry, on_stack.as_mut_ptr().cast(), count, result) };
    }
    let mut copy = Buffer::new();
    if let Err(error) = copy.try_extend_from_slice(args) {
        raised_error::set(error.into());
        return -1;
    }
    // SAFETY: as above.
    unsafe { TVMFFIWasmSafeCall(entry, copy.as_mut_slice().as_mut_ptr(), count, result) }
}
