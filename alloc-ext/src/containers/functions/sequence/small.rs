//! Size-optimised changes of a list: most operations replace a range of elements by one value or
//! none.

use core::slice;

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
#[inline]
pub(super) fn change(
    operation: Sequence,
    list: &ListObject,
    operands: Operands<'_>,
) -> Result<Any> {
    let value = match operation {
        SetItem(_, index, value) => {
            list.set(operands.get(index), operands.get(value).borrow().clone())?;
            return Ok(Any::NONE);
        }
        Pop(_, index) => return list.remove(operands.get(index)),
        Erase(_, index) => {
            drop(list.remove(operands.get(index))?);
            return Ok(Any::NONE);
        }
        Clear(_) => {
            list.clear()?;
            return Ok(Any::NONE);
        }
        Append(_, value) => Some(operands.get(value).borrow()),
        Insert(_, _, value) => Some(operands.get(value).borrow()),
        _ => None,
    };
    list.replace_by(value.map_or(&[][..], slice::from_ref), |seq| {
        Ok(match operation {
            Append(..) => seq.len()..seq.len(),
            Insert(_, index, _) => {
                let position = seq.insert_position(operands.get(index))?;
                position..position
            }
            EraseRange(_, start, stop) => seq.range(operands.get(start), operands.get(stop))?,
            _ => 0..0,
        })
    })?;
    Ok(Any::NONE)
}
