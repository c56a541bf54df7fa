//! `ffi.Array*` and `ffi.List*`.

use ferrite_core::any::{Any, AnyView};
use ferrite_core::convert::AnyCompatible;
use ferrite_core::error::Result;
use ferrite_core::object::ObjectClass;

#[cfg_attr(feature = "speed", path = "fast.rs")]
#[cfg_attr(not(feature = "speed"), path = "small.rs")]
mod change;

use crate::containers::sequence::Seq;
use crate::containers::{ArrayObject, List, ListObject, cell, key};
use crate::operation::{self, Answer, Copying, Key, Operand, Operands, Operations, Parameter, Read};

pub(super) fn create_array(args: &[AnyView<'_>]) -> Result<Any> {
    ArrayObject::from_views(args).map(ArrayObject::into_any)
}

pub(super) fn create_list(args: &[AnyView<'_>]) -> Result<Any> {
    ListObject::from_views(args).map(ListObject::into_any)
}

/// The operations on Arrays and Lists, with their operands.
#[derive(Clone, Copy)]
pub(super) enum Sequence {
    Size(Operand<0, Elements>),
    GetItem(Operand<0, Elements>, Index),
    Contains(Operand<0, Elements>, Operand<1, Key>),
    ReplaceSlice(This, Index, Stop, Operand<3, List>),
    Reverse(This),
    Reserve(This, Operand<1, i64>),
    SetItem(This, Index, Operand<2, Any>),
    Append(This, Operand<1, Any>),
    Insert(This, Index, Operand<2, Any>),
    Pop(This, Index),
    Erase(This, Index),
    EraseRange(This, Index, Stop),
    Clear(This),
}
use Sequence::*;

/// The List that an operation changes.
type This = Operand<0, List>;
type Index = Operand<1, i64>;
type Stop = Operand<2, i64>;

/// Reads an Array or a List whose elements are only looked at.
pub(crate) enum Elements {}

impl Read for Elements {
    type Value<'a> = ArrayOrList<'a>;

    #[inline(always)]
    unsafe fn read<'a>(argument: &'a AnyView<'a>) -> ArrayOrList<'a> {
        // SAFETY: the argument is an Array or a List, which have the same layout.
        ArrayOrList(unsafe { operation::object(argument) })
    }
}

/// An Array or a List.
#[derive(Clone, Copy)]
pub(crate) struct ArrayOrList<'a>(&'a ListObject);

impl<'a> ArrayOrList<'a> {
    #[inline(always)]
    fn seq(self) -> Seq<'a> {
        // SAFETY: both are sequences.
        unsafe { Seq::of(self.0.as_object()) }
    }
}

// SAFETY: the type accepts Arrays.
unsafe impl Parameter for ArrayObject {
    type Reader = Elements;
}

// SAFETY: the type accepts Lists.
unsafe impl Parameter for ListObject {
    type Reader = Elements;
}

// SAFETY: the type accepts Lists.
unsafe impl Parameter for List {
    type Reader = Self;
}

impl Read for List {
    type Value<'a> = &'a ListObject;

    #[inline(always)]
    unsafe fn read<'a>(argument: &'a AnyView<'a>) -> &'a ListObject {
        // SAFETY: the argument is a List.
        unsafe { operation::object(argument) }
    }
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
            Size(_) => result = Any::from(seq.len() as i64),
            GetItem(_, index) => {
                let position = seq.position(operands.get(index))?;
                // SAFETY: the position is that of an element; the cell of the answer is valid for writing.
                unsafe { cell::share(seq.cells().add(position), answer.into_raw()) };
                return Ok(());
            }
            Contains(_, key) => result = Any::from(contains(seq, operands.get(key).view())?),
            ReplaceSlice(list, start, stop, values) => {
                let [start, stop] = [operands.get(start), operands.get(stop)];
                operands.get(list).replace_range(start, stop, operands.get(values))?;
            }
            Reverse(list) => operands.get(list).reverse(),
            Reserve(list, capacity) => operands.get(list).reserve(operands.get(capacity))?,
            SetItem(list, ..)
            | Append(list, ..)
            | Insert(list, ..)
            | Pop(list, ..)
            | Erase(list, ..)
            | EraseRange(list, ..)
            | Clear(list) => result = change::change(self, operands.get(list), operands)?,
        }
        answer.write(result);
        Ok(())
    }
}

impl Sequence {
    /// The Array or List that all operations have first: read once for all of them, which makes less code.
    #[inline(always)]
    fn sequence(self, operands: Operands<'_>) -> ArrayOrList<'_> {
        match self {
            Size(array) | GetItem(array, ..) | Contains(array, ..) => operands.get(array),
            ReplaceSlice(list, ..)
            | Reverse(list)
            | Reserve(list, ..)
            | SetItem(list, ..)
            | Append(list, ..)
            | Insert(list, ..)
            | Pop(list, ..)
            | Erase(list, ..)
            | EraseRange(list, ..)
            | Clear(list) => ArrayOrList(operands.get(list)),
        }
    }
}

/// Returns `true` if an element equals `key`. Hooks get a copy of the element, since they may change a list.
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
