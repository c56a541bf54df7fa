//! Receivers of methods: states and caches as first arguments of builtins. Those of TVM's runtime
//! are forwarded to the function that it registered under the same name.

use ferrite_core::error::Result;
use ferrite_core::names::{global_table, type_table};
use ferrite_core::object::ObjectClass;
use ferrite_core::platform::stack;
use ferrite_core::value::convert::AnyCompatible;
use ferrite_core::{Any, AnyView, ObjectRef, plain_bail};

use super::arguments::object;

/// Prefix of the type keys of TVM's caches and states, whose classes exist only after TVM's runtime
/// has registered its functions.
const FOREIGN: &[u8] = b"relax.vm.";

/// A method of a class: takes the receiver and the other arguments.
pub(super) type Method<T> = fn(&T, &[AnyView<'_>]) -> Result<Any>;

/// Calls a method of the first argument; or, for an object of TVM's, the global function of this
/// name.
///
/// # Errors
/// TypeError for any other first argument, or none; errors of the function.
#[inline]
pub(super) fn call_method<T: ObjectClass + AnyCompatible>(
    name: &'static str,
    args: &[AnyView<'_>],
    method: Method<T>,
) -> Result<Any> {
    if let Some((first, rest)) = args.split_first()
        && let Some(receiver) = object(first).and_then(ObjectRef::as_class::<T>)
    {
        return method(receiver, rest);
    }
    forward::<T>(name, args)
}

/// Calls a method of the first argument, an object of one of two classes; or as [`call_method`].
///
/// # Errors
/// Same errors as [`call_method`].
#[inline]
pub(super) fn call_either<T, U>(
    name: &'static str,
    args: &[AnyView<'_>],
    method: Method<T>,
    other: Method<U>,
) -> Result<Any>
where
    T: ObjectClass + AnyCompatible,
    U: ObjectClass + AnyCompatible,
{
    if let Some((first, rest)) = args.split_first()
        && let Some(receiver) = object(first).and_then(ObjectRef::as_class::<T>)
    {
        return method(receiver, rest);
    }
    call_method(name, args, other)
}

#[cold]
fn forward<T: ObjectClass + AnyCompatible>(
    name: &'static str,
    args: &[AnyView<'_>],
) -> Result<Any> {
    let Some(first) = args.first() else {
        plain_bail!(TYPE_ERROR, "`{}` takes one or more arguments, but got none", name);
    };
    if let Some(object) = object(first)
        && type_table::type_key_of(object.type_index()).starts_with(FOREIGN)
        && let Some(function) = global_table::get(name.as_bytes())?
    {
        return stack::nest(|| function.call_packed(args));
    }
    Err(first
        .get::<T>()
        .err()
        .unwrap_or_else(|| ferrite_core::plain_error!(TYPE_ERROR, "No state")))
}
