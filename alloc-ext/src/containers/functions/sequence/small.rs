//! Size-optimised changes of a list: every operation replaces a range of elements by one value or none.

use core::slice;

use ferrite_core::any::Any;
use ferrite_core::error::Result;
use ferrite_core::object::ObjectClass;

use super::operands::Sequence::{self, *};
use crate::containers::ListObject;
use crate::containers::sequence::Seq;
use crate::operation::Operands;

/// Applies an operation to a list. Returns the removed element for `Pop`, and None for other operations.
///
/// # Errors
/// Errors of the corresponding [`ListObject`] method.
#[inline]
pub(super) fn change(operation: Sequence, list: &ListObject, operands: Operands<'_>) -> Result<Any> {
    // SAFETY: the object is a List.
    let seq = unsafe { Seq::of(list.as_object()) };
    let mut result = Any::NONE;
    let (range, value) = match operation {
        Append(_, value) => (seq.len()..seq.len(), Some(operands.get(value).borrow())),
        Insert(_, index, value) => {
            let position = seq.insert_position(operands.get(index))?;
            (position..position, Some(operands.get(value).borrow()))
        }
        EraseRange(_, start, stop) => (seq.range(operands.get(start), operands.get(stop))?, None),
        SetItem(_, index, _) | Pop(_, index) | Erase(_, index) => {
            let position = seq.position(operands.get(index))?;
            match operation {
                SetItem(_, _, value) => {
                    // In place, for which no memory is needed.
                    drop(seq.replace(position, operands.get(value).borrow().clone()));
                    return Ok(result);
                }
                Pop(..) => result = seq.get(position).unwrap_or_default(),
                _ => {}
            }
            (position..position + 1, None)
        }
        _ => (0..seq.len(), None),
    };
    // SAFETY: the value lies among the arguments, outside the list.
    unsafe { list.replace_by(range, value.map_or(&[][..], slice::from_ref)) }?;
    Ok(result)
}
