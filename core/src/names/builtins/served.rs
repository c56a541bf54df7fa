//! The data of static functions in size-optimised builds.

use core::ffi::c_int;

use crate::abi::TVMFFIAny;
use crate::call::typed::Callee;
use crate::error::Result;

#[cfg(all(feature = "optional-functions", target_family = "wasm"))]
use super::PackedFn;

/// The data of a static function, with the code that executes its calls.
pub trait Served: Sync {
    /// Returns the name, such as `ffi.Shape`.
    fn name(&self) -> &'static str;

    /// Calls `then` with the name and types, which may exist only for the duration of the call.
    ///
    /// # Errors
    /// The errors of `then`.
    fn with_callee(&self, then: &mut dyn FnMut(&Callee<'_>) -> Result<()>) -> Result<()>;

    /// Executes a call of the static function. Returns 0, or -1 with an error raised.
    ///
    /// # Safety
    /// The arguments must be those of a safe call.
    unsafe fn serve(&self, args: *const TVMFFIAny, count: i32, result: *mut TVMFFIAny) -> c_int;

    /// Returns the Rust function over packed arguments, if the data has one.
    #[cfg(all(feature = "optional-functions", target_family = "wasm"))]
    fn body(&self) -> Option<PackedFn> {
        None
    }
}
