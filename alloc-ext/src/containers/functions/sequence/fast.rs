//! Speed-optimised changes of a list: each operation has a path of its own.
#![forbid(unsafe_code)]

use ferrite_core::any::Any;
use ferrite_core::error::Result;

use super::operands::Sequence::{self, *};
use crate::containers::ListObject;
use crate::operation::Operands;

/// Changes a list. Returns the element that a `Pop` removes.
///
/// # Errors
/// Errors of the methods of a list.
#[inline(always)]
pub(super) fn change(operation: Sequence, list: &ListObject, operands: Operands<'_>) -> Result<Any> {
    match operation {
        Pop(_, index) => return list.remove(operands.get(index)),
        SetItem(_, index, value) => list.set(operands.get(index), operands.get(value).to_owned()?)?,
        Append(_, value) => list.push(operands.get(value).to_owned()?)?,
        Insert(_, index, value) => list.insert(operands.get(index), operands.get(value).to_owned()?)?,
        Erase(_, index) => drop(list.remove(operands.get(index))?),
        EraseRange(_, start, stop) => list.remove_range(operands.get(start), operands.get(stop))?,
        Clear(_) => list.clear(),
        _ => {}
    }
    Ok(Any::NONE)
}
