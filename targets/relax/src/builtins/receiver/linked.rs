//! Receivers of methods in firmware, which has no objects of TVM's runtime.

use ferrite_core::error::Result;
use ferrite_core::object::ObjectClass;
use ferrite_core::value::convert::AnyCompatible;
use ferrite_core::{Any, AnyView};

use crate::builtins::arguments::{borrowed, expect};

/// A method of a class: takes the receiver and the other arguments.
pub(in crate::builtins) type Method<T> = fn(&T, &[AnyView<'_>]) -> Result<Any>;

/// Calls a method of the first argument.
///
/// # Errors
/// TypeError for any other first argument, or none; errors of the function.
pub(in crate::builtins) fn call_method<T: ObjectClass + AnyCompatible>(
    name: &'static str,
    args: &[AnyView<'_>],
    method: Method<T>,
) -> Result<Any> {
    expect(args, 1, name)?;
    let Some((first, rest)) = args.split_first() else { return Ok(Any::NONE) };
    method(borrowed(first)?, rest)
}
