//! Typed operands: the position and type of an argument are known at compile time and select the
//! code that reads it.

use core::marker::PhantomData;

use ferrite_core::abi::TVMFFIAny;
use ferrite_core::object::ObjectClass;
use ferrite_core::value::any::{Any, AnyView};
use ferrite_core::value::string::String;

use super::{Key, TypeOfRust};
use crate::module::Module;

/// A parameter type of operations.
///
/// # Safety
/// [`Reader`](Self::Reader) must be able to read all arguments that [`TypeOfRust::TYPE`] accepts.
pub(crate) unsafe trait Parameter: TypeOfRust {
    /// Reader of arguments of this type. Types with the same representation share a reader, and can
    /// share operations.
    type Reader: Read;
}

/// Reader of arguments whose type has been checked.
pub(crate) trait Read {
    /// Type as which an operation receives the argument.
    type Value<'a>;

    /// Reads an argument.
    ///
    /// # Safety
    /// The argument must have been accepted as a [`Parameter`] with this reader.
    unsafe fn read<'a>(argument: &'a AnyView<'a>) -> Self::Value<'a>;
}

/// Operand of an operation at position `AT`: a zero-sized token that permits reading the argument.
pub(crate) struct Operand<const AT: usize, R>(PhantomData<R>);

impl<const AT: usize, R> Clone for Operand<AT, R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<const AT: usize, R> Copy for Operand<AT, R> {}

impl<const AT: usize, R: Read> Operand<AT, R> {
    /// Creates the operand for a parameter of type `P`.
    ///
    /// # Safety
    /// The operation must have a parameter of type `P` at position `AT`, which
    /// [`operation!`](super::operation) ensures.
    pub(crate) const unsafe fn of<P: Parameter<Reader = R>>() -> Self {
        Operand(PhantomData)
    }
}

/// Arguments of an operation in the caller's memory, borrowed without reference counting. A user
/// callback may release the caller's references, so an operation must own the arguments that it
/// uses after a callback.
#[derive(Clone, Copy)]
pub(crate) struct Operands<'a>(*const AnyView<'a>, PhantomData<&'a AnyView<'a>>);

impl<'a> Operands<'a> {
    /// Borrows the arguments of a call.
    ///
    /// # Safety
    /// The arguments must have the types of the operation that receives them.
    pub(super) unsafe fn new(args: &'a [AnyView<'a>]) -> Self {
        Operands(args.as_ptr(), PhantomData)
    }

    /// Reads the argument of an operand.
    #[inline(always)]
    pub(crate) fn get<const AT: usize, R: Read>(self, _: Operand<AT, R>) -> R::Value<'a> {
        // SAFETY: only the operation with this operand has it, and it runs on arguments of its
        // types.
        unsafe { R::read(&*self.0.add(AT)) }
    }
}

/// Result cell of an operation.
pub(crate) struct Answer<'a>(*mut TVMFFIAny, PhantomData<&'a mut TVMFFIAny>);

impl Answer<'_> {
    /// Wraps the result cell of a call.
    ///
    /// # Safety
    /// The cell must be valid for writing as long as this value lives.
    pub(super) unsafe fn new(cell: *mut TVMFFIAny) -> Self {
        Answer(cell, PhantomData)
    }

    /// Writes the result.
    #[inline(always)]
    pub(crate) fn write(self, value: Any) {
        // SAFETY: the cell is valid for writing.
        unsafe { self.0.write(value.into_raw()) }
    }

    /// Returns the cell, for an operation that writes its result in place.
    #[inline(always)]
    pub(crate) fn into_raw(self) -> *mut TVMFFIAny {
        self.0
    }
}

/// An argument of any type, in the representation of an owned value.
#[derive(Clone, Copy)]
pub(crate) struct Argument<'a>(&'a AnyView<'a>);

impl<'a> Argument<'a> {
    /// Returns the argument as a view.
    #[inline(always)]
    pub(crate) fn view(self) -> &'a AnyView<'a> {
        self.0
    }

    /// Borrows the argument as an [`Any`], without taking a reference.
    #[inline(always)]
    pub(crate) fn borrow(self) -> &'a Any {
        // SAFETY: accepted arguments have the representation of owned values; both types are
        // transparent over a cell.
        unsafe { &*core::ptr::from_ref(self.0).cast() }
    }
}

macro_rules! readers {
    ($($type:ty => $value:ty: |$argument:ident| $read:expr;)*) => {
        $(
            // SAFETY: the reader below reads all values that the type accepts.
            unsafe impl Parameter for $type {
                type Reader = Self;
            }

            impl Read for $type {
                type Value<'a> = $value;

                #[inline(always)]
                unsafe fn read<'a>($argument: &'a AnyView<'a>) -> $value {
                    $read
                }
            }
        )*
    };
}

readers! {
    Any => Argument<'a>: |argument| Argument(argument);
    Key => Argument<'a>: |argument| Argument(argument);
    i64 => i64: |argument| argument.payload_bits() as i64;
    bool => bool: |argument| argument.payload_bits() != 0;
    // A C `int`: larger numbers wrap, as they do upstream.
    Option<i32> => Option<i32>: |argument| (!argument.is_none()).then(|| argument.payload_bits() as i32);
    // SAFETY: the argument is a string, and references to strings are transparent over its cell.
    String => &'a String: |argument| unsafe { &*core::ptr::from_ref(argument).cast() };
    // SAFETY: the argument is a module.
    Module => &'a Module: |argument| unsafe { object(argument) };
}

/// Borrows the object in an argument as an object of class `T`.
///
/// # Safety
/// The argument must be an object of class `T`, or of a class that shares with `T` the layout of
/// all fields that are used.
#[inline(always)]
pub(crate) unsafe fn object<'a, T: ObjectClass>(argument: &'a AnyView<'a>) -> &'a T {
    // SAFETY: the cell contains the address of the object, and references are transparent over an
    // address.
    unsafe { &*(&raw const argument.as_raw().payload).cast() }
}
