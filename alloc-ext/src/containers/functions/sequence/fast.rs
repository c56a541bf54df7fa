//! Speed-optimised changes of a list: a separate path for each operation.
#![forbid(unsafe_code)]

use ferrite_core::error::Result;
use ferrite_core::value::any::Any;

use super::operands::Sequence::{self, *};
use crate::containers::ListObject;
use crate::operation::Operands;

/// Applies an operation to a list. Returns the removed element for `Pop`, and None for other
/// operations.
///
/// # Errors
/// Errors of the corresponding [`ListObject`] method.
#[inline(always)]
pub(super) fn change(
    operation: Sequence,
    list: &ListObject,
    operands: Operands<'_>,
) -> Result<Any> {
    match operation {
        Pop(_, index) => return list.remove(operands.get(index)),
        SetItem(_, index, value) => {
            list.set(operands.get(index), operands.get(value).to_owned()?)?
        }
        Append(_, value) => list.push(operands.get(value).to_owned()?)?,
        Insert(_, index, value) => {
            list.insert(operands.get(index), operands.get(value).to_owned()?)?
        }
        Erase(_, index) => drop(list.remove(operands.get(index))?),
        EraseRange(_, start, stop) => list.remove_range(operands.get(start), operands.get(stop))?,
        Clear(_) => list.clear()?,
        _ => {}
    }
    Ok(Any::NONE)
}
