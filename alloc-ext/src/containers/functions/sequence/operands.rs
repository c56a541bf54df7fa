//! Operations on Arrays and Lists, and the types that read their operands from arguments.

use ferrite_core::error::Result;
use ferrite_core::object::borrow::{BriefShared, Shared};
use ferrite_core::object::{ObjectClass, ObjectRef};
use ferrite_core::value::any::{Any, AnyView};

use crate::containers::sequence::Seq;
use crate::containers::{self, ArrayObject, List, ListObject};
use crate::operation::{self, Key, Operand, Operands, Parameter, Read};

/// An operation on an Array or List, with its operands.
#[derive(Clone, Copy)]
pub(crate) enum Sequence {
    Size(Operand<0, Elements>),
    /// Of an Array.
    GetItem(Operand<0, Elements>, Index),
    GetListItem(Operand<0, Elements>, Index),
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

/// The list that an operation changes.
type This = Operand<0, List>;
type Index = Operand<1, i64>;
type Stop = Operand<2, i64>;

/// Reader of an Array or List argument that the operation does not change.
pub(crate) enum Elements {}

impl Read for Elements {
    type Value<'a> = ArrayOrList<'a>;

    #[inline(always)]
    unsafe fn read<'a>(argument: &'a AnyView<'a>) -> ArrayOrList<'a> {
        // SAFETY: the argument is an Array or a List, which have the same layout.
        ArrayOrList(unsafe { operation::object(argument) })
    }
}

/// A borrowed Array or List.
#[derive(Clone, Copy)]
pub(crate) struct ArrayOrList<'a>(&'a ListObject);

impl<'a> ArrayOrList<'a> {
    /// Borrows a List; `None` for an Array.
    #[inline(always)]
    pub(super) fn borrow(self) -> Result<Option<Shared<&'a ObjectRef>>> {
        containers::borrow(self.0.as_object())
    }

    /// Borrows a List for copying elements.
    ///
    /// # Safety
    /// Same requirements as [`BriefShared::of`].
    #[inline(always)]
    pub(super) unsafe fn read(self) -> Result<BriefShared<'a>> {
        // SAFETY: guaranteed by the caller.
        unsafe { BriefShared::of(self.0.as_object()) }
    }

    /// Returns the elements. A List must be borrowed, unless only their number is read.
    #[inline(always)]
    pub(super) fn seq(self) -> Seq<'a> {
        // SAFETY: both are sequences; the callers borrow a List.
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

impl Sequence {
    /// Returns the first operand of the operation, an Array or List. A single function for all
    /// operations reduces code size.
    #[inline(always)]
    pub(super) fn sequence(self, operands: Operands<'_>) -> ArrayOrList<'_> {
        match self {
            Size(array) | GetItem(array, ..) | GetListItem(array, ..) | Contains(array, ..) => {
                operands.get(array)
            }
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
