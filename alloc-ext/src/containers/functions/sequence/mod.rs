//! `ffi.Array*` and `ffi.List*`.

use ferrite_core::abi::TVMFFIAny;
use ferrite_core::any::{Any, AnyView};
use ferrite_core::convert::AnyCompatible;
use ferrite_core::error::Result;
use ferrite_core::object::ObjectClass;

#[cfg_attr(feature = "speed", path = "fast.rs")]
#[cfg_attr(not(feature = "speed"), path = "small.rs")]
mod change;

use crate::containers::sequence::Seq;
use crate::containers::{ArrayObject, ListObject, cell, key};
use crate::operation::{Family, Operands, Verb};

pub(super) fn create_array(args: &[AnyView<'_>]) -> Result<Any> {
    ArrayObject::from_views(args).map(ArrayObject::into_any)
}

pub(super) fn create_list(args: &[AnyView<'_>]) -> Result<Any> {
    ListObject::from_views(args).map(ListObject::into_any)
}

/// What the operations here share.
pub(super) const FAMILY: Family = Family {
    run,
    // SAFETY: the caller passes an Array.
    copy: Some(|array| unsafe {
        ListObject::from_slice(array.object::<ArrayObject>(0).as_slice()).map(Any::from)
    }),
};

/// Runs an operation.
///
/// # Errors
/// Those of the methods of a list.
///
/// # Safety
/// `result` is valid for writing.
#[cfg_attr(feature = "speed", inline(always))]
unsafe fn run(verb: Verb, operands: Operands<'_>, result: *mut TVMFFIAny) -> Result<()> {
    // SAFETY: each operation has the arguments that are used here, which `last_operand` knows. Those of this family are on
    // Arrays and Lists, and those that change it on Lists.
    unsafe {
        let list: &ListObject = operands.object(0);
        let seq = Seq::of(list.as_object());
        let integer = |index| operands.integer(index);
        let mut answer = Any::NONE;
        match verb {
            Verb::Size => answer = Any::from(seq.len() as i64),
            Verb::GetItem => {
                let position = seq.position(integer(1))?;
                cell::share(seq.cells().add(position), result);
                return Ok(());
            }
            Verb::Contains => answer = Any::from(contains(seq, operands.value(1))?),
            Verb::ReplaceSlice => list.replace_range(integer(1), integer(2), operands.object(3))?,
            Verb::Reverse => list.reverse(),
            Verb::Reserve => list.reserve(integer(1))?,
            _ => answer = change::change(verb, list, operands)?,
        }
        result.write(answer.into_raw());
    }
    Ok(())
}

/// Whether an element equals `key`. Hooks get a copy of the element, since they may change a list.
fn contains(seq: Seq<'_>, key: &AnyView<'_>) -> Result<bool> {
    let mut index = 0;
    // SAFETY: the view is not used any more when a hook runs.
    while let Some(element) = unsafe { seq.borrow(index) } {
        let is_equal = match key::equal_without_hook(element, key) {
            Some(answer) => answer,
            None => key::equal_by_hook(seq.get(index).unwrap_or_default().view(), *key)?,
        };
        if is_equal {
            return Ok(true);
        }
        index += 1;
    }
    Ok(false)
}
