//! Optional functions: the linker of a WebAssembly module chooses those of the tables that it has.
//!
//! Each function is two pairs of symbols. The option `--wrap=SYMBOL` of the linker redirects
//! references of `SYMBOL` to `__wrap_SYMBOL`.
//!
//! | symbol | without the option | with it |
//! |---|---|---|
//! | `entry.NAME`, to which tables refer | the function does not exist | the function's data |
//! | `NAME`, to which the data refers | raises an error: the function is not linked | the function |
//!
//! JavaScript runtimes look up many functions when they start, and fail if one does not exist; most
//! modules have only an entry of them. Operations are an entry without a body, and methods of
//! modules a body without an entry. What no selected symbol refers to is not linked.

use core::ptr;

use super::PackedFn;
use super::served::Served;
use crate::error::Result;
use crate::value::any::Any;
use crate::{plain_bail, plain_error};

/// Returns the data of a static function; `None` if the function is not linked.
pub type Data = fn() -> Option<&'static dyn Served>;

/// Nothing: the data has the Rust function over packed arguments.
pub type Direct = ();

pub(super) fn linked_data(data: &Data) -> Option<&'static dyn Served> {
    // SAFETY: a reference. The compiler must not see which function it reads, whose result the
    // linker changes.
    let data = unsafe { ptr::from_ref(data).read_volatile() };
    data()
}

pub(super) fn required_data(data: &Data) -> Result<&'static dyn Served> {
    linked_data(data)
        .ok_or_else(|| plain_error!(RUNTIME_ERROR, "A function is not linked into this module"))
}

pub(super) fn direct_body(data: &Data, (): Direct) -> Option<PackedFn> {
    linked_data(data)?.body()
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

/// Returns the body of a function by the symbol `NAME`, which this macro defines together with
/// `__wrap_NAME`. Without a name, returns the body itself.
#[doc(hidden)]
#[macro_export]
macro_rules! optional_body {
    ($run:expr) => {
        $run
    };
    ($run:expr, $name:literal) => {{
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

/// Returns data by the symbol `entry.NAME`, which this macro defines together with
/// `__wrap_entry.NAME`. Without a name, the data is always linked.
#[doc(hidden)]
#[macro_export]
macro_rules! optional_data {
    ($data:expr) => {{
        fn linked() -> Option<&'static dyn $crate::names::builtins::Served> {
            Some($data)
        }
        linked
    }};
    ($data:expr, $name:literal) => {{
        // The compiler merges equal functions of one section, and WebAssembly ignores its name.
        #[unsafe(export_name = concat!("entry.", $name))]
        #[unsafe(link_section = concat!(".text.", $name))]
        fn unlinked() -> Option<&'static dyn $crate::names::builtins::Served> {
            None
        }
        #[unsafe(export_name = concat!("__wrap_entry.", $name))]
        fn linked() -> Option<&'static dyn $crate::names::builtins::Served> {
            Some($data)
        }
        unlinked
    }};
}

/// Returns a method of a module by the symbol of its name, whose parts are literals.
#[doc(hidden)]
#[macro_export]
macro_rules! optional_method {
    ($this:ty, $run:expr, $($name:literal),+) => {{
        #[unsafe(export_name = concat!($($name),+))]
        fn unlinked(_: $this, _: &[$crate::AnyView<'_>]) -> $crate::Result<$crate::Any> {
            $crate::names::builtins::fail_unlinked(concat!($($name),+))
        }
        #[unsafe(export_name = concat!("__wrap_", $($name),+))]
        fn linked(this: $this, args: &[$crate::AnyView<'_>]) -> $crate::Result<$crate::Any> {
            let run: fn($this, &[$crate::AnyView<'_>]) -> $crate::Result<$crate::Any> = $run;
            run(this, args)
        }
        unlinked
    }};
}

/// Returns nothing: callers find the body in the data.
#[doc(hidden)]
#[macro_export]
macro_rules! direct_body {
    ($($function:tt)*) => {
        ()
    };
}
