//! Addresses for the pointer slots of code that TVM compiles through LLVM.

use core::ffi::c_void;

use ferrite_alloc_ext::module::context::{self, ContextSymbol, ContextTable};

use crate::error::TVMFFIErrorSetRaisedFromCStr;
use crate::function::TVMFFIFunctionCall;
use crate::init_once::TVMFFIHandleInitOnce;
use crate::module::TVMFFIEnvModLookupFromImports;

#[cfg(feature = "backend")]
use crate::backend;

/// In the order in which TVM's own runtime registers them.
static TABLE: ContextTable = ContextTable {
    symbols: &[
        ContextSymbol::new(c"__TVMFFIFunctionCall", TVMFFIFunctionCall as *const c_void),
        ContextSymbol::new(c"__TVMFFIErrorSetRaisedFromCStr", TVMFFIErrorSetRaisedFromCStr as *const c_void),
        ContextSymbol::new(
            c"__TVMFFIEnvModLookupFromImports",
            TVMFFIEnvModLookupFromImports as *const c_void,
        ),
        ContextSymbol::new(c"__TVMFFIHandleInitOnce", TVMFFIHandleInitOnce as *const c_void),
        #[cfg(feature = "backend")]
        ContextSymbol::new(c"__TVMBackendAllocWorkspace", backend::TVMBackendAllocWorkspace as *const c_void),
        #[cfg(feature = "backend")]
        ContextSymbol::new(c"__TVMBackendFreeWorkspace", backend::TVMBackendFreeWorkspace as *const c_void),
        #[cfg(feature = "backend")]
        ContextSymbol::new(c"__TVMBackendParallelLaunch", backend::TVMBackendParallelLaunch as *const c_void),
        #[cfg(feature = "backend")]
        ContextSymbol::new(
            c"__TVMBackendParallelBarrier",
            backend::TVMBackendParallelBarrier as *const c_void,
        ),
    ],
};

/// Makes the addresses known to the loader.
pub(super) fn install() {
    context::install_builtin(&TABLE);
}
