//! The global functions `ffi.Array*` and `ffi.List*`.

use core::slice;

use ferrite_core::error::Result;
use ferrite_core::value::any::{Any, AnyView};
use ferrite_core::value::convert::AnyCompatible;

mod operands;

use crate::containers::{ArrayObject, ListObject, cell, key};
use crate::operation::{self, Answer, Copying, Operands, Operations};

use operands::ArrayOrList;
pub(super) use operands::Sequence;
use operands::Sequence::*;

pub(super) fn create_array(args: &[AnyView<'_>]) -> Result<Any> {
    ArrayObject::from_views(args).map(ArrayObject::into_any)
}

pub(super) fn create_list(args: &[AnyView<'_>]) -> Result<Any> {
    ListObject::from_views(args).map(ListObject::into_any)
}

impl Operations for Sequence {
    // SAFETY: the caller passes an Array.
    const COPY: Option<Copying> = Some(|array| unsafe {
        ListObject::from_slice(operation::object::<ArrayObject>(array).as_slice()).map(Any::from)
    });

    #[cfg_attr(feature = "speed", inline(always))]
    fn run(self, operands: Operands<'_>, answer: Answer<'_>) -> Result<()> {
        let seq = self.sequence(operands).seq();
        let mut result = Any::NONE;
        match self {
            // The length needs no borrow.
            Size(_) => result = Any::from(seq.len_now() as i64),
            GetItem(_, index) | GetListItem(_, index) => {
                let is_list = matches!(self, GetListItem(..));
                // SAFETY: an element is copied, and nothing else is done.
                let _borrow =
                    is_list.then(|| unsafe { self.sequence(operands).read() }).transpose()?;
                let position = seq.position(operands.get(index))?;
                // SAFETY: the position is that of an element, and the borrow excludes writers; the
                // cell of the answer is valid for writing.
                unsafe { cell::share(seq.cells().add(position), answer.into_raw()) };
                return Ok(());
            }
            Contains(_, key) => {
                result = Any::from(contains(self.sequence(operands), operands.get(key).view())?)
            }
            ReplaceSlice(list, start, stop, values) => {
                let [start, stop] = [operands.get(start), operands.get(stop)];
                operands.get(list).replace_range(start, stop, operands.get(values))?;
            }
            Reverse(list) => operands.get(list).reverse()?,
            Reserve(list, capacity) => operands.get(list).reserve(operands.get(capacity))?,
            SetItem(list, ..)
            | Append(list, ..)
            | Insert(list, ..)
            | Pop(list, ..)
            | Erase(list, ..)
            | EraseRange(list, ..)
            | Clear(list) => result = change(self, operands.get(list), operands)?,
        }
        answer.write(result);
        Ok(())
    }
}

/// Applies an operation to a list. Returns the removed element for `Pop`, and None for other
/// operations. `Insert` and `EraseRange` replace a range of elements by one value or none.
///
/// # Errors
/// Errors of the corresponding [`ListObject`] method.
#[inline(always)]
fn change(operation: Sequence, list: &ListObject, operands: Operands<'_>) -> Result<Any> {
    let value = match operation {
        SetItem(_, index, value) => {
            list.set(operands.get(index), operands.get(value).to_owned()?)?;
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
        Append(_, value) => {
            list.push(operands.get(value).to_owned()?)?;
            return Ok(Any::NONE);
        }
        Insert(_, _, value) => Some(operands.get(value).whole()?),
        _ => None,
    };
    list.replace_by(value.map_or(&[][..], slice::from_ref), |seq| {
        Ok(match operation {
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

/// Returns `true` if an element equals `key`. Equality hooks receive an owned copy of the element,
/// and run without a borrow, since they may change the list.
fn contains(sequence: ArrayOrList<'_>, key: &AnyView<'_>) -> Result<bool> {
    let mut index = 0;
    loop {
        let element = {
            let _borrow = sequence.borrow()?;
            loop {
                // SAFETY: the borrow excludes writers while the view is in use.
                let Some(element) = (unsafe { sequence.seq().borrow(index) }) else {
                    return Ok(false);
                };
                index += 1;
                match key::equal_without_hook(element, key) {
                    Some(true) => return Ok(true),
                    Some(false) => {}
                    None => break cell::own(element)?,
                }
            }
        };
        if key::equal_by_hook(element.view(), *key)? {
            return Ok(true);
        }
    }
}
