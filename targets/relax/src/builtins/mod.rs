//! Builtins: the functions `vm.builtin.*` that compiled models call by name.
//!
//! Each file contains one group of builtins: a constant table of [`Builtin`] values made by [`builtin!`](crate::builtin).
//! `table` lists the tables of all groups, or in microcontroller builds the builtins that a program links. The machine looks
//! up builtins here before the global table, and calls their bodies directly. Hosts also register the tables as global
//! functions, which yield to those of `libtvm_runtime`.
//!
//! A builtin that needs the machine takes a [`Context`](crate::machine::Context) as its first argument.

#[cfg(feature = "all-builtins")]
use ferrite_core::builtins::StaticFunction;
use ferrite_core::error::{Error, Result};
use ferrite_core::text::Writer;
use ferrite_core::{__error_site, Any, AnyView, type_index};

mod arguments;
pub mod control;
#[cfg(feature = "all-builtins")]
pub mod debug;
#[cfg(feature = "all-builtins")]
pub mod device;
pub mod dynamic;
#[cfg(feature = "all-builtins")]
pub mod kv_cache;
pub mod memory;
pub mod prim_value;
#[cfg(feature = "all-builtins")]
pub mod python;
#[cfg(feature = "all-builtins")]
pub mod sampling;
pub mod shape;
mod shape_heap;
#[cfg(feature = "all-builtins")]
pub mod sort;
#[cfg_attr(not(feature = "all-builtins"), path = "table/linked.rs")]
mod table;
pub mod tensor;
#[cfg(test)]
pub(crate) mod testing;
pub mod tuple;

pub use table::*;

/// Body of a builtin: takes packed arguments and returns an owned value.
pub type Body = fn(&[AnyView<'_>]) -> Result<Any>;

/// A builtin: a function that compiled models call by name.
#[derive(Clone, Copy)]
pub struct Builtin {
    /// Name, such as `vm.builtin.copy`.
    pub name: &'static str,
    /// Rust function that implements the builtin.
    pub body: Body,
    /// Table entry that registers the builtin as a global function.
    #[cfg(feature = "all-builtins")]
    pub function: StaticFunction,
}

impl Builtin {
    /// Returns the builtin as a function object. Returns None in builds that link builtins individually, where no register
    /// holds a builtin.
    ///
    /// # Errors
    /// MemoryError.
    pub fn to_value(&self) -> Result<Any> {
        #[cfg(feature = "all-builtins")]
        return self.function.to_function().map(Any::from);
        #[cfg(not(feature = "all-builtins"))]
        Ok(Any::NONE)
    }
}

/// Creates a [`Builtin`] from a Rust function.
///
/// `builtin!("vm.builtin.reshape", reshape)` checks the number and types of the arguments as
/// [`static_function!`](ferrite_core::static_function) does. With `packed` before the name, the function takes
/// `&[AnyView<'_>]` and returns `Result<Any>`.
#[macro_export]
macro_rules! builtin {
    (packed $name:literal, $function:expr) => {
        $crate::builtins::Builtin {
            name: $name,
            body: $function,
            #[cfg(feature = "all-builtins")]
            function: ferrite_core::static_function!(packed $name, $function),
        }
    };
    ($name:literal, $function:expr) => {{
        const CALLEE: &ferrite_core::typed::Callee<'static> =
            &ferrite_core::typed::Callee { name: $name, signature: ferrite_core::typed::signature_of(&$function) };
        fn body(args: &[ferrite_core::AnyView<'_>]) -> ferrite_core::Result<ferrite_core::Any> {
            ferrite_core::typed::TypedFn::invoke(&$function, CALLEE, args)
        }
        $crate::builtins::Builtin {
            name: $name,
            body,
            #[cfg(feature = "all-builtins")]
            function: ferrite_core::static_function!($name, $function),
        }
    }};
}

/// Returns an integer argument.
#[inline(always)]
pub(crate) fn integer(arg: &AnyView<'_>) -> Result<i64> {
    match arg.type_index() {
        type_index::INT | type_index::BOOL => Ok(arg.payload_bits().cast_signed()),
        _ => arg.get(),
    }
}

/// Returns the error of a failed check. Its message begins with `context`, a string or None: the compiler's description of
/// the checked value and its function.
#[cold]
pub(crate) fn refusal(kind: &str, context: &AnyView<'_>, write: &dyn Fn(&mut Writer<'_>)) -> Error {
    Error::from_parts(__error_site!(), kind, &|out| {
        out.put_lossy(context.bytes_of_string().unwrap_or_default());
        write(out);
    })
}
