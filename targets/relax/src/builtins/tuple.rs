//! Tuples, which are Arrays.

use ferrite_alloc_ext::containers::ArrayObject;
use ferrite_core::error::Result;
use ferrite_core::error::kind::{TYPE_ERROR, VALUE_ERROR};
use ferrite_core::{Any, AnyView, ObjectRef, plain_bail, type_table};

use super::{Builtin, integer, refusal};
use crate::builtin;

/// The builtins of this file.
pub const BUILTINS: &[Builtin] = &[
    builtin!(packed "vm.builtin.make_tuple", make_tuple),
    builtin!(packed "vm.builtin.tuple_getitem", tuple_getitem),
    builtin!(packed "vm.builtin.check_tuple_info", check_tuple_info),
];

/// An Array of the arguments.
fn make_tuple(args: &[AnyView<'_>]) -> Result<Any> {
    Ok(ArrayObject::from_views(args)?.into())
}

/// An element of a tuple: (tuple, index).
fn tuple_getitem(args: &[AnyView<'_>]) -> Result<Any> {
    let [tuple, index] = args else {
        plain_bail!(TYPE_ERROR, "vm.builtin.tuple_getitem takes 2 arguments, but got {}", args.len());
    };
    let tuple: ArrayObject = tuple.get()?;
    tuple.get(integer(index)?).cloned()
}

/// Checks that a value is a tuple: (value, number of elements, context).
fn check_tuple_info(args: &[AnyView<'_>]) -> Result<Any> {
    let [value, count, context] = args else {
        plain_bail!(TYPE_ERROR, "vm.builtin.check_tuple_info takes 3 arguments, but got {}", args.len());
    };
    let object: Option<ObjectRef> = value.try_get()?;
    let Some(tuple) = object.as_ref().and_then(ObjectRef::as_class::<ArrayObject>) else {
        return Err(refusal(TYPE_ERROR, context, &|out| {
            out.put(b" expect a Tuple but get ");
            out.put_lossy(type_table::type_key_of(value.type_index()));
        }));
    };
    let count = integer(count)?;
    if tuple.len() as i64 != count {
        return Err(refusal(VALUE_ERROR, context, &|out| {
            out.put(b" expect a Tuple with ");
            out.put_number(count);
            out.put(b" elements,  but get a Tuple with ");
            out.put_word(tuple.len());
            out.put(b" elements.");
        }));
    }
    Ok(Any::NONE)
}
