//! Optional functions: each is a pair of symbols, between which the linker of a WebAssembly module
//! chooses.
//!
//! The tables refer to the symbol `NAME`, whose body raises an error. The option `--wrap=NAME` of
//! the linker redirects them to `__wrap_NAME`, the body of the function. Code that only bodies
//! without that option use is not linked.

use core::ffi::c_int;

use super::Served;
use crate::abi::TVMFFIAny;
use crate::call::function::serve_safe_call;
use crate::call::typed::{Callee, Signature};
use crate::error::Result;
use crate::plain_bail;
use crate::value::any::Any;

/// Data of a static function, or its name if the function is not linked.
pub struct Optional(pub fn() -> core::result::Result<&'static dyn Served, &'static str>);

impl Served for Optional {
    fn name(&self) -> &'static str {
        self.0().map_or_else(|name| name, Served::name)
    }

    fn with_callee(&self, then: &mut dyn FnMut(&Callee<'_>) -> Result<()>) -> Result<()> {
        match self.0() {
            Ok(data) => data.with_callee(then),
            Err(name) => then(&Callee::new(name, &Signature::PACKED)),
        }
    }

    unsafe fn serve(&self, args: *const TVMFFIAny, count: i32, result: *mut TVMFFIAny) -> c_int {
        // SAFETY: passed on.
        unsafe {
            match self.0() {
                Ok(data) => data.serve(args, count, result),
                Err(name) => serve_safe_call(args, count, result, &|_| fail_unlinked(name)),
            }
        }
    }
}

/// Returns the error of a function that was not linked.
///
/// # Errors
/// RuntimeError, always.
#[cold]
pub fn fail_unlinked(name: &str) -> Result<Any> {
    plain_bail!(
        RUNTIME_ERROR,
        "{} is not linked into this module: link the module with `--with {}`, or with `--all`",
        name,
        name
    )
}

/// Returns the body of a function by its symbol, which this macro defines together with
/// `__wrap_NAME`. Without a name, returns the body itself.
#[doc(hidden)]
#[macro_export]
macro_rules! optional_body {
    ($run:expr) => {
        $run
    };
    ($name:literal, $run:expr) => {{
        #[unsafe(export_name = $name)]
        fn unlinked(_: &[$crate::AnyView<'_>]) -> $crate::Result<$crate::Any> {
            $crate::names::builtins::fail_unlinked($name)
        }
        #[unsafe(export_name = concat!("__wrap_", $name))]
        fn linked(args: &[$crate::AnyView<'_>]) -> $crate::Result<$crate::Any> {
            $run(args)
        }
        unlinked
    }};
}

/// Returns the body of a function by the symbol that [`optional_body!`](crate::optional_body)
/// defines.
#[doc(hidden)]
#[macro_export]
macro_rules! optional_symbol {
    ($name:literal, $run:expr) => {{
        const _: fn(&[$crate::AnyView<'_>]) -> $crate::Result<$crate::Any> = $run;
        unsafe extern "Rust" {
            #[link_name = $name]
            safe fn unlinked(args: &[$crate::AnyView<'_>]) -> $crate::Result<$crate::Any>;
        }
        unlinked
    }};
}

/// Returns data of a static function whose functions are linked with the symbol `NAME`.
#[doc(hidden)]
#[macro_export]
macro_rules! optional_data {
    ($name:literal, $data:expr) => {{
        type Data =
            ::core::result::Result<&'static dyn $crate::names::builtins::Served, &'static str>;
        #[unsafe(export_name = $name)]
        fn unlinked() -> Data {
            Err($name)
        }
        #[unsafe(export_name = concat!("__wrap_", $name))]
        fn linked() -> Data {
            Ok($data)
        }
        &$crate::names::builtins::Optional(unlinked)
    }};
}
