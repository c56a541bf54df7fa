//! Builtins: the functions `vm.builtin.*` that compiled models call by name.
//!
//! Each file contains one group of builtins: a constant table of [`Builtin`] values made by
//! [`builtin!`](crate::builtin). `table` lists the tables of all groups, or in microcontroller
//! builds the builtins that a program links. The machine looks up builtins here before the global
//! table, and calls their bodies directly. Hosts also register the tables as global functions,
//! which yield to those of `libtvm_runtime`.
//!
//! A builtin that needs the machine takes its address as its first argument, and uses it in
//! [`Context::with`](crate::machine::Context::with).

use ferrite_core::abi::type_index;
use ferrite_core::error::message::SHORT;
use ferrite_core::error::{Error, Result};
use ferrite_core::names::builtins::Direct;
#[cfg(feature = "all-builtins")]
use ferrite_core::names::builtins::StaticFunction;
use ferrite_core::platform::text::Writer;
use ferrite_core::{__error_site, Any, AnyView};

mod arguments;
pub mod control;
#[cfg(feature = "all-builtins")]
pub mod cuda_graph;
#[cfg(feature = "all-builtins")]
pub mod debug;
#[cfg(feature = "all-builtins")]
pub mod device;
pub mod dynamic;
#[cfg(feature = "all-builtins")]
pub mod kv_cache;
#[cfg(feature = "kv-cache")]
pub mod kv_state;
pub mod memory;
#[cfg(feature = "all-builtins")]
mod named_values;
#[cfg(feature = "kv-cache")]
pub mod paged_kv_cache;
pub mod prim_value;
#[cfg(feature = "all-builtins")]
pub mod python;
#[cfg(feature = "all-builtins")]
pub mod random;
#[cfg(feature = "kv-cache")]
#[cfg_attr(not(feature = "all-builtins"), path = "receiver/linked.rs")]
mod receiver;
#[cfg(feature = "all-builtins")]
pub mod rnn_state;
#[cfg(feature = "all-builtins")]
pub mod sampling;
pub mod shape;
mod shape_heap;
#[cfg(feature = "all-builtins")]
pub mod sort;
#[cfg_attr(not(feature = "all-builtins"), path = "table/linked.rs")]
mod table;
pub mod tensor;
#[cfg(feature = "all-builtins")]
pub mod tensor_cache;
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
    #[cfg(not(feature = "all-builtins"))]
    pub name: &'static str,
    /// Rust function that implements the builtin, except in builds for web pages.
    #[doc(hidden)]
    pub body: Direct,
    /// Table entry that registers the builtin as a global function.
    #[cfg(feature = "all-builtins")]
    pub function: StaticFunction,
}

impl Builtin {
    /// Returns the name, such as `vm.builtin.copy`; empty if the builtin is not linked.
    pub fn name(&self) -> &'static str {
        #[cfg(feature = "all-builtins")]
        return self.function.name();
        #[cfg(not(feature = "all-builtins"))]
        self.name
    }

    /// Returns the Rust function that implements the builtin; `None` if it is not linked.
    pub fn implementation(&self) -> Option<Body> {
        #[cfg(feature = "all-builtins")]
        return self.function.body(self.body);
        #[cfg(not(feature = "all-builtins"))]
        Some(self.body)
    }

    /// Returns the builtin as a function object. Returns None in builds that link builtins
    /// individually, where no register holds a builtin.
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
/// [`static_function!`](ferrite_core::static_function) does. With `packed` before the name, the
/// function takes `&[AnyView<'_>]` and returns `Result<Any>`.
#[macro_export]
macro_rules! builtin {
    (packed $name:literal, $function:expr) => {
        $crate::builtins::Builtin {
            #[cfg(not(feature = "all-builtins"))]
            name: $name,
            body: ferrite_core::direct_body!(packed $name, $function),
            #[cfg(feature = "all-builtins")]
            function: ferrite_core::static_function!(packed $name, $function),
        }
    };
    ($name:literal, $function:expr) => {
        $crate::builtins::Builtin {
            #[cfg(not(feature = "all-builtins"))]
            name: $name,
            body: ferrite_core::direct_body!($name, $function),
            #[cfg(feature = "all-builtins")]
            function: ferrite_core::static_function!($name, $function),
        }
    };
}

/// Returns an integer argument.
#[inline(always)]
pub(crate) fn integer(arg: &AnyView<'_>) -> Result<i64> {
    match arg.type_index() {
        type_index::INT | type_index::BOOL => Ok(arg.payload_bits().cast_signed()),
        _ => arg.get(),
    }
}

/// A check that failed, in the expression of TVM's source: its text is part of TVM's messages.
#[derive(Clone, Copy)]
pub(crate) enum Check {
    /// A condition.
    That(&'static str),
    /// An equality, and the values of both sides.
    Equal(&'static str, i64, i64),
}

impl Check {
    /// Writes the beginning of the message.
    fn write(self, out: &mut Writer<'_>) {
        out.put(b"Check failed: ");
        match self {
            Check::That(condition) => {
                out.put(b"(");
                out.put(condition.as_bytes());
                out.put(b") is false: ");
            }
            Check::Equal(equality, left, right) => {
                out.put(equality.as_bytes());
                out.put(b" (");
                out.put_number(left);
                out.put(b" vs. ");
                out.put_number(right);
                out.put(b") : ");
            }
        }
    }
}

/// Returns the error of a failed check. Its message contains `context`, a string or None: the
/// compiler's description of the checked value and its function. Small builds leave the check out.
#[inline(always)]
pub(crate) fn refusal(
    kind: &str,
    check: Check,
    context: &AnyView<'_>,
    write: &dyn Fn(&mut Writer<'_>),
) -> Error {
    if SHORT {
        return with_context(kind, context, write);
    }
    with_check(kind, check, context, write)
}

#[cold]
fn with_context(kind: &str, context: &AnyView<'_>, write: &dyn Fn(&mut Writer<'_>)) -> Error {
    Error::from_parts(__error_site!(), kind, &|out| {
        out.put_lossy(context.bytes_of_string().unwrap_or_default());
        write(out);
    })
}

#[cold]
fn with_check(
    kind: &str,
    check: Check,
    context: &AnyView<'_>,
    write: &dyn Fn(&mut Writer<'_>),
) -> Error {
    Error::from_parts(__error_site!(), kind, &|out| {
        check.write(out);
        out.put_lossy(context.bytes_of_string().unwrap_or_default());
        write(out);
    })
}

#[cfg(test)]
mod tests {
    use super::testing::failure;
    use ferrite_core::{AnyView, Shape, String, Tensor};

    #[test]
    fn failed_checks_show_the_expression_of_tvm_then_the_context() {
        let tensor = Tensor::from_slice(&[1i32, 2], &[2]).unwrap();
        let (shape, context) = (Shape::from_slice(&[2, 3]).unwrap(), String::new("ctx").unwrap());
        let (tensor, shape, context) =
            (AnyView::from(&tensor), AnyView::from(&shape), AnyView::from(&context));
        let refuse = |name: &str, args: &[AnyView<'_>], kind: &str, message: &str| {
            failure(
                &std::format!("vm.builtin.{name}"),
                args,
                kind,
                &std::format!("Check failed: {message}"),
            )
        };
        let text = "(opt_ptr.has_value()) is false: ctx expect a Tensor but get ffi.Shape";
        refuse("check_tensor_info", &[shape, 1i64.into(), context], "TypeError", text);
        let text = "(ptr->ndim == ndim) is false: ctx expect Tensor with ndim 3 but get 1";
        refuse("check_tensor_info", &[tensor, 3i64.into(), context], "ValueError", text);
        let text = "(ptr->dtype == dtype.value()) is false: ctx expect Tensor with dtype int8 but get int32";
        let dtype = String::new("int8").unwrap();
        refuse(
            "check_tensor_info",
            &[tensor, 1i64.into(), (&dtype).into(), context],
            "ValueError",
            text,
        );
        let text = "(ptr != nullptr) is false: ctx expect a Shape but get ffi.Tensor";
        refuse("check_shape_info", &[tensor, 1i64.into(), context], "TypeError", text);
        let text = "(ptr->size == static_cast<uint64_t>(ndim)) is false: ctx expect Shape with ndim 1 but get 2";
        refuse("check_shape_info", &[shape, 1i64.into(), context], "ValueError", text);
        let text = "(ptr != nullptr) is false: ctx expect a Tuple but get ffi.Tensor";
        refuse("check_tuple_info", &[tensor, 1i64.into(), context], "TypeError", text);
        let text = "input_shape.size() == size (2 vs. 1) : ctx match_cast shape size mismatch.";
        let one = [shape, AnyView::NONE, 1i64.into(), 0i64.into(), 2i64.into(), context];
        refuse("match_shape", &one, "RuntimeError", text);
        let text = "input_shape[i] == reg (3 vs. 4) : ctx match_cast error,  shape[1] mismatch to specified constant.";
        let two = [2i64, 0, 2, 0, 4].map(AnyView::from);
        refuse(
            "match_shape",
            &[&[shape, AnyView::NONE], &two[..], &[context]].concat(),
            "RuntimeError",
            text,
        );
    }
}
