//! Builtins for tuples, which are Arrays.

use ferrite_alloc_ext::containers::ArrayObject;
use ferrite_core::abi::TVMFFISeqCell;
use ferrite_core::error::Result;
use ferrite_core::error::kind::{TYPE_ERROR, VALUE_ERROR};
use ferrite_core::names::type_table;
use ferrite_core::object::ObjectClass;
use ferrite_core::object::object_alloc::Recycled;
use ferrite_core::{Any, AnyView, ObjectRef, plain_bail};

use super::{Builtin, Check, integer, refusal};
use crate::builtin;

/// The builtins of this file.
pub const BUILTINS: &[Builtin] = &[
    builtin!(packed "vm.builtin.make_tuple", make_tuple),
    builtin!(packed "vm.builtin.tuple_getitem", tuple_getitem),
    builtin!(packed "vm.builtin.check_tuple_info", check_tuple_info),
    builtin!("vm.builtin.tuple_reset_item", tuple_reset_item),
];

/// Returns an Array of the arguments.
fn make_tuple(args: &[AnyView<'_>]) -> Result<Any> {
    Ok(ArrayObject::from_views_in(args, &mut Recycled)?.into())
}

/// Returns an element of a tuple. The arguments are (tuple, index).
fn tuple_getitem(args: &[AnyView<'_>]) -> Result<Any> {
    let [tuple, index] = args else {
        plain_bail!(
            TYPE_ERROR,
            "vm.builtin.tuple_getitem takes 2 arguments, but got {}",
            args.len()
        );
    };
    let tuple: ArrayObject = tuple.get()?;
    tuple.get(integer(index)?).cloned()
}

/// Replaces an element by None in place, also for other holders of the tuple: so weights are
/// released once a model has used them.
fn tuple_reset_item(tuple: ArrayObject, index: i64) -> Result<()> {
    tuple.get(index)?;
    // SAFETY: arrays have a sequence cell behind the header, and the element is one of them. Nobody
    // reads the tuple meanwhile, as whoever calls the model guarantees.
    let old = unsafe {
        let cell = tuple.as_object().as_ptr().add(1).cast::<TVMFFISeqCell>();
        let place = (*cell).data.cast::<Any>().add(index as usize);
        core::mem::take(&mut *place)
    };
    drop(old);
    Ok(())
}

/// Checks that a value is a tuple. The arguments are (value, number of elements, error context).
fn check_tuple_info(args: &[AnyView<'_>]) -> Result<Any> {
    let [value, count, context] = args else {
        plain_bail!(
            TYPE_ERROR,
            "vm.builtin.check_tuple_info takes 3 arguments, but got {}",
            args.len()
        );
    };
    let object: Option<ObjectRef> = value.try_get()?;
    let Some(tuple) = object.as_ref().and_then(ObjectRef::as_class::<ArrayObject>) else {
        return Err(refusal(TYPE_ERROR, Check::That("ptr != nullptr"), context, &|out| {
            out.put(b" expect a Tuple but get ");
            out.put_lossy(type_table::type_key_of(value.type_index()));
        }));
    };
    let count = integer(count)?;
    if tuple.len() as i64 != count {
        let check = Check::That("static_cast<int64_t>(ptr->size()) == size");
        return Err(refusal(VALUE_ERROR, check, context, &|out| {
            out.put(b" expect a Tuple with ");
            out.put_number(count);
            out.put(b" elements,  but get a Tuple with ");
            out.put_word(tuple.len());
            out.put(b" elements.");
        }));
    }
    Ok(Any::NONE)
}

#[cfg(test)]
mod reset_tests {
    use super::*;
    use crate::builtins::testing::{call, failure};

    #[test]
    fn an_element_is_reset_for_every_holder() {
        let name = "vm.builtin.tuple_reset_item";
        let tuple = ArrayObject::from_slice(&[Any::from(1i64), Any::from(2i64)]).unwrap();
        let other = tuple.clone();
        call(name, &[AnyView::from(&tuple), 0i64.into()]);
        assert!(other.as_slice()[0].is_none());
        assert_eq!(other.as_slice()[1].get::<i64>().unwrap(), 2);
        for index in [2i64, -1, i64::MIN] {
            let text = std::format!("Index {index} out of bounds 2");
            let error =
                crate::builtins::find(name.as_bytes()).unwrap().implementation().unwrap()(&[
                    AnyView::from(&tuple),
                    index.into(),
                ]);
            let error = error.unwrap_err();
            assert_eq!(
                (error.kind_bytes(), std::str::from_utf8(error.message_bytes()).unwrap()),
                (&b"IndexError"[..], &*text)
            );
        }
        let text = "Mismatched type on argument #0 when calling: `vm.builtin.tuple_reset_item(0: ffi.Array, 1: int) -> void`. \
                    Expected `ffi.Array` but got `int`";
        failure(name, &[3i64.into(), 0i64.into()], "TypeError", text);
    }
}
