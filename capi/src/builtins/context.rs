//! Context symbols: addresses of runtime functions that the loader stores in pointer variables of code compiled by TVM
//! through LLVM.

use core::ffi::c_void;

#[cfg(any(feature = "host", feature = "backend"))]
use ferrite_alloc_ext::module::backend_slots as slots;
use ferrite_alloc_ext::module::context::{self, ContextSymbol, ContextTable};

use crate::error::TVMFFIErrorSetRaisedFromCStr;
use crate::function::TVMFFIFunctionCall;
use crate::init_once::TVMFFIHandleInitOnce;
use crate::module::TVMFFIEnvModLookupFromImports;

/// Table of the context symbols, in the order of TVM's own runtime.
static TABLE: ContextTable = ContextTable {
    symbols: &[
        ContextSymbol::new(c"__TVMFFIFunctionCall", TVMFFIFunctionCall as *const c_void),
        ContextSymbol::new(c"__TVMFFIErrorSetRaisedFromCStr", TVMFFIErrorSetRaisedFromCStr as *const c_void),
        ContextSymbol::new(
            c"__TVMFFIEnvModLookupFromImports",
            TVMFFIEnvModLookupFromImports as *const c_void,
        ),
        ContextSymbol::new(c"__TVMFFIHandleInitOnce", TVMFFIHandleInitOnce as *const c_void),
        #[cfg(feature = "legacy")]
        crate::legacy::compiled::FUNC_CALL,
        #[cfg(feature = "legacy")]
        crate::legacy::compiled::SET_LAST_ERROR,
        #[cfg(feature = "legacy")]
        crate::legacy::compiled::GET_FUNC_FROM_ENV,
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
