//! Context symbols: addresses of runtime functions that the loader stores in pointer variables of
//! code compiled by TVM through LLVM.

use core::ffi::c_void;

#[cfg(any(feature = "host", feature = "backend"))]
use ferrite_alloc_ext::module::backend_slots as slots;
use ferrite_alloc_ext::module::context::{self, ContextSymbol, ContextTable};

use crate::error::TVMFFIErrorSetRaisedFromCStr;
use crate::function::TVMFFIFunctionCall;
use crate::init_once::TVMFFIHandleInitOnce;
use crate::module::TVMFFIEnvModLookupFromImports;

/// Creates the context symbol `__NAME` of a C function `NAME`.
macro_rules! symbol {
    ($name:literal, $function:ident) => {
        // SAFETY: the function of that name.
        unsafe { ContextSymbol::new($name, $function as *const c_void) }
    };
}

/// Table of the context symbols, in the order of TVM's own runtime.
static TABLE: ContextTable = ContextTable {
    symbols: &[
        symbol!(c"__TVMFFIFunctionCall", TVMFFIFunctionCall),
        symbol!(c"__TVMFFIErrorSetRaisedFromCStr", TVMFFIErrorSetRaisedFromCStr),
        symbol!(c"__TVMFFIEnvModLookupFromImports", TVMFFIEnvModLookupFromImports),
        symbol!(c"__TVMFFIHandleInitOnce", TVMFFIHandleInitOnce),
        #[cfg(feature = "legacy")]
        ferrite_legacy::compiled::FUNC_CALL,
        #[cfg(feature = "legacy")]
        ferrite_legacy::compiled::SET_LAST_ERROR,
        #[cfg(feature = "legacy")]
        ferrite_legacy::compiled::GET_FUNC_FROM_ENV,
        #[cfg(any(feature = "host", feature = "backend"))]
        slots::ALLOC_WORKSPACE,
        #[cfg(any(feature = "host", feature = "backend"))]
        slots::FREE_WORKSPACE,
        #[cfg(any(feature = "host", feature = "backend"))]
        slots::PARALLEL_LAUNCH,
        #[cfg(any(feature = "host", feature = "backend"))]
        slots::PARALLEL_BARRIER,
    ],
};

/// Installs the context symbols for use by the loader.
pub(super) fn install() {
    context::install_builtin(&TABLE);
}
