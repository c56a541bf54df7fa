//! Functions of libraries that releases of TVM before tvm-ffi compiled: loading and calling.
//!
//! Up to 0.6, a compiled function has three parameters. Since 0.7, it also has parameters for its
//! result, the result's type code, and a resource. All six arguments are always passed: in the
//! calling conventions of x86-64, Arm, AArch64 and RISC-V, a function with three parameters ignores
//! the others.

use core::ffi::{c_int, c_void};
use core::ptr::{self, NonNull};

use ferrite_alloc_ext::module::Module;
use ferrite_alloc_ext::module::context::ContextSymbol;
use ferrite_alloc_ext::module::packed::{self, Support};
use ferrite_core::error::Result;
use ferrite_core::error::raised_error::Mark;
use ferrite_core::{Any, AnyView, Function, plain_bail};

use super::backend::TVMBackendGetFuncFromEnv;
use super::call::TVMFuncCall;
use super::converted::{ArgumentStorage, ConvertedArguments};
use super::crossing::Views;
use super::error::TVMAPISetLastError;
use super::{argument, error};
use ferrite_core::abi::packed::TVMValue;
use ferrite_core::abi::packed::code;

/// Context symbol `__TVMFuncCall`: the address of [`TVMFuncCall`].
pub const FUNC_CALL: ContextSymbol =
    // SAFETY: the function of that name.
    unsafe { ContextSymbol::new(c"__TVMFuncCall", TVMFuncCall as *const c_void) };
/// Context symbol `__TVMAPISetLastError`: the address of [`TVMAPISetLastError`].
pub const SET_LAST_ERROR: ContextSymbol =
    // SAFETY: the function of that name.
    unsafe { ContextSymbol::new(c"__TVMAPISetLastError", TVMAPISetLastError as *const c_void) };
/// Context symbol `__TVMBackendGetFuncFromEnv`: the address of [`TVMBackendGetFuncFromEnv`].
pub const GET_FUNC_FROM_ENV: ContextSymbol =
    // SAFETY: the function of that name.
    unsafe {
        ContextSymbol::new(c"__TVMBackendGetFuncFromEnv", TVMBackendGetFuncFromEnv as *const c_void)
    };

/// A compiled function in the calling convention of TVM 0.7 to 0.20.
type PackedFunction = unsafe extern "C" fn(
    args: *mut TVMValue,
    type_codes: *mut c_int,
    num_args: c_int,
    ret: *mut TVMValue,
    ret_type_code: *mut c_int,
    resource: *mut c_void,
) -> c_int;

static SUPPORT: Support = Support { make_function };

/// Enables loading of libraries compiled by these releases. Takes one atomic store.
pub fn install() {
    // SAFETY: the function makes functions as the contract says.
    unsafe { packed::install(&SUPPORT) };
}

/// Creates a function object that calls a symbol of a library and keeps its module alive.
///
/// # Safety
/// The symbol must be a compiled function that is valid as long as the module lives.
unsafe fn make_function(symbol: NonNull<c_void>, module: &Module) -> Result<Function> {
    // SAFETY: the caller guarantees the symbol.
    let symbol = unsafe { core::mem::transmute::<*mut c_void, PackedFunction>(symbol.as_ptr()) };
    let module = module.clone();
    Function::from_packed(move |args| {
        let _held = &module;
        // SAFETY: the module keeps the library.
        unsafe { call(symbol, args) }
    })
}

/// Calls a compiled function, and converts its arguments and result.
///
/// # Safety
/// The symbol must be a compiled function.
unsafe fn call(symbol: PackedFunction, args: &[AnyView<'_>]) -> Result<Any> {
    let mut storage = ArgumentStorage::new();
    let ConvertedArguments { values, codes, count, .. } = storage.convert(args)?;
    let mut value = TVMValue::of_bits(0);
    let mut type_code = code::NULL;
    let before = Mark::now();
    // SAFETY: the caller guarantees the symbol; its arguments are valid until it returns.
    let status =
        unsafe { symbol(values, codes, count, &mut value, &mut type_code, ptr::null_mut()) };
    if status != 0 {
        return Err(error::callback_error(status, before));
    }
    match type_code {
        // SAFETY: the result of a function matches its code.
        code::INT..=code::NULL => unsafe { own(value, type_code) },
        // SAFETY: as above; the caller owns the reference.
        code::OBJECT | code::MODULE | code::FUNCTION | code::ND_ARRAY => unsafe {
            let owned = own(value, type_code)?;
            release(owned.view());
            Ok(owned)
        },
        other => plain_bail!(TYPE_ERROR, "A compiled function cannot return type code {}", other),
    }
}

/// Converts a result of a compiled function to an owned tvm-ffi value.
///
/// # Safety
/// The value must match its type code.
unsafe fn own(value: TVMValue, type_code: c_int) -> Result<Any> {
    let mut views = Views::new();
    // SAFETY: the caller guarantees a valid value. Safe code refuses a pointer as a result.
    unsafe {
        AnyView::from_raw(argument::view(value, type_code, 0, &mut views)?).to_owned_or_pointer()
    }
}

/// Releases the reference that a compiled function returned with an object.
///
/// # Safety
/// The caller transfers a reference to the object, and owns another one.
unsafe fn release(value: AnyView<'_>) {
    // SAFETY: the cell takes ownership of the transferred reference.
    drop(unsafe { Any::from_raw(*value.as_raw()) });
}
