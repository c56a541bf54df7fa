//! The functions that compiled models call by name, `vm.builtin.*`.
//!
//! A file holds one group, as a constant table of [`Builtin`] made by [`builtin!`](crate::builtin). `table` lists all tables, or on boards the
//! builtins that a program links. The machine finds its builtins here before it looks into the global table, and calls their bodies directly; hosts offer the same tables
//! as global functions, which yield to those of `libtvm_runtime`.
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

/// The body of a builtin: packed arguments in, an owned value out.
pub type Body = fn(&[AnyView<'_>]) -> Result<Any>;

/// A function that compiled models call by name.
#[derive(Clone, Copy)]
pub struct Builtin {
    /// The name, such as `vm.builtin.copy`.
    pub name: &'static str,
    /// Runs the function.
    pub body: Body,
    /// The function as an entry of a table of global functions.
    #[cfg(feature = "all-builtins")]
    pub function: StaticFunction,
}

impl Builtin {
    /// The function as a value; None in builds whose builtins are linked one by one, where no register holds one.
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

/// Makes a [`Builtin`] of a Rust function.
///
/// `builtin!("vm.builtin.reshape", reshape)` checks number and types of arguments as
/// [`static_function!`](ferrite_core::static_function) does; with `packed` in front of the name, the function takes
/// `&[AnyView<'_>]` and gives `Result<Any>`.
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

/// An integer argument.
#[inline(always)]
pub(crate) fn integer(arg: &AnyView<'_>) -> Result<i64> {
    match arg.type_index() {
        type_index::INT | type_index::BOOL => Ok(arg.payload_bits().cast_signed()),
        _ => arg.get(),
    }
}

/// The error of a check, whose text begins with the context that the compiler gave: which value of which function it was. `context` is
/// a text or None.
#[cold]
pub(crate) fn refusal(kind: &str, context: &AnyView<'_>, write: &dyn Fn(&mut Writer<'_>)) -> Error {
    Error::from_parts(__error_site!(), kind, &|out| {
        out.put_lossy(context.bytes_of_string().unwrap_or_default());
        write(out);
    })
}
