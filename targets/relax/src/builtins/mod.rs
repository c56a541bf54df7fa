//! The functions that compiled models call by name, `vm.builtin.*`.
//!
//! A file holds one group, as a constant table of [`Builtin`] made by [`builtin!`](crate::builtin). [`GROUPS`] lists all tables. The
//! machine finds its builtins here before it looks into the global table, and calls their bodies directly; hosts offer the same tables
//! as global functions, which yield to those of `libtvm_runtime`.
//!
//! A builtin that needs the machine takes a [`Context`](crate::machine::Context) as its first argument.

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
pub mod tensor;
#[cfg(test)]
pub(crate) mod testing;
pub mod tuple;

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
    pub function: StaticFunction,
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
            function: ferrite_core::static_function!(packed $name, $function),
        }
    };
    ($name:literal, $function:expr) => {{
        const CALLEE: &ferrite_core::typed::Callee<'static> =
            &ferrite_core::typed::Callee { name: $name, signature: ferrite_core::typed::signature_of(&$function) };
        fn body(args: &[ferrite_core::AnyView<'_>]) -> ferrite_core::Result<ferrite_core::Any> {
            ferrite_core::typed::TypedFn::invoke(&$function, CALLEE, args)
        }
        $crate::builtins::Builtin { name: $name, body, function: ferrite_core::static_function!($name, $function) }
    }};
}

/// All groups of builtins.
pub static GROUPS: &[&[Builtin]] = &[
    memory::BUILTINS,
    tensor::BUILTINS,
    shape::BUILTINS,
    tuple::BUILTINS,
    control::BUILTINS,
    dynamic::BUILTINS,
    prim_value::BUILTINS,
    #[cfg(feature = "all-builtins")]
    debug::BUILTINS,
    #[cfg(feature = "all-builtins")]
    device::BUILTINS,
    #[cfg(feature = "all-builtins")]
    kv_cache::BUILTINS,
    #[cfg(feature = "all-builtins")]
    python::BUILTINS,
    #[cfg(feature = "all-builtins")]
    sampling::BUILTINS,
    #[cfg(feature = "all-builtins")]
    sort::BUILTINS,
];

/// The builtin of that name.
pub fn find(name: &[u8]) -> Option<&'static Builtin> {
    GROUPS.iter().copied().flatten().find(|builtin| builtin.name.as_bytes() == name)
}

/// The entries of a table of global functions for a group.
pub const fn functions_of<const N: usize>(group: &[Builtin]) -> [StaticFunction; N] {
    assert!(group.len() == N && N > 0);
    let mut functions = [group[0].function; N];
    let mut at = 1;
    while at < N {
        functions[at] = group[at].function;
        at += 1;
    }
    functions
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
