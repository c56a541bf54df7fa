//! The operands of an operation: position and type are known to the compiler, which decides by them how an argument is read.

use core::marker::PhantomData;

use ferrite_core::abi::TVMFFIAny;
use ferrite_core::any::{Any, AnyView};
use ferrite_core::object::ObjectClass;
use ferrite_core::string::String;

use super::{Key, TypeOfRust};
use crate::module::Module;

/// A type that operations take.
///
/// # Safety
/// Arguments that [`TypeOfRust::TYPE`] accepts are read by the [`Reader`](Self::Reader).
pub(crate) unsafe trait Parameter: TypeOfRust {
    /// The way to read such an argument. Types that are read alike share it, and so the operations that take them.
    type Reader: Read;
}

/// A way to read an argument whose type has been checked.
pub(crate) trait Read {
    /// The argument as an operation sees it.
    type Value<'a>;

    /// Reads the argument.
    ///
    /// # Safety
    /// The argument was accepted as a [`Parameter`] with this reader.
    unsafe fn read<'a>(argument: &'a AnyView<'a>) -> Self::Value<'a>;
}

/// The operand of an operation at a position: the right to read it, which takes no memory.
pub(crate) struct Operand<const AT: usize, R>(PhantomData<R>);

impl<const AT: usize, R> Clone for Operand<AT, R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<const AT: usize, R> Copy for Operand<AT, R> {}

impl<const AT: usize, R: Read> Operand<AT, R> {
    /// The operand for a parameter of type `P`.
    ///
    /// # Safety
    /// The operation has such a parameter at this position; [`operation!`](super::operation) sees to that.
    pub(crate) const unsafe fn of<P: Parameter<Reader = R>>() -> Self {
        Operand(PhantomData)
    }
}

/// The arguments of an operation in the caller's memory: reading them costs no reference. The caller's references may be gone
/// once a user callback has run: an operation owns what it uses after that.
#[derive(Clone, Copy)]
pub(crate) struct Operands<'a>(*const AnyView<'a>, PhantomData<&'a AnyView<'a>>);

impl<'a> Operands<'a> {
    /// Borrows the arguments of a call.
    ///
    /// # Safety
    /// They are of the types of the operation that gets them.
    pub(super) unsafe fn new(args: &'a [AnyView<'a>]) -> Self {
        Operands(args.as_ptr(), PhantomData)
    }

    /// Reads an operand.
    #[inline(always)]
    pub(crate) fn get<const AT: usize, R: Read>(self, _: Operand<AT, R>) -> R::Value<'a> {
        // SAFETY: only an operation with this operand has it, and it runs on arguments of its types.
        unsafe { R::read(&*self.0.add(AT)) }
    }
}

/// The result cell of an operation.
pub(crate) struct Answer<'a>(*mut TVMFFIAny, PhantomData<&'a mut TVMFFIAny>);

impl Answer<'_> {
    /// The result cell of a call.
    ///
    /// # Safety
    /// It is valid for writing as long as this value lives.
    pub(super) unsafe fn new(cell: *mut TVMFFIAny) -> Self {
        Answer(cell, PhantomData)
    }

    /// Writes the result.
    #[inline(always)]
    pub(crate) fn write(self, value: Any) {
        // SAFETY: the cell is valid for writing.
        unsafe { self.0.write(value.into_raw()) }
    }

    /// The cell, for a result that is written in place.
    #[inline(always)]
    pub(crate) fn into_raw(self) -> *mut TVMFFIAny {
        self.0
    }
}

/// An argument of any type, in a form that owned values have.
#[derive(Clone, Copy)]
pub(crate) struct Argument<'a>(&'a AnyView<'a>);

impl<'a> Argument<'a> {
    /// The argument as a view.
    #[inline(always)]
    pub(crate) fn view(self) -> &'a AnyView<'a> {
        self.0
    }

    /// The argument as an owned value that is only borrowed.
    #[inline(always)]
    pub(crate) fn borrow(self) -> &'a Any {
        // SAFETY: arguments are accepted in forms that owned values have; both types are transparent over a cell.
        unsafe { &*core::ptr::from_ref(self.0).cast() }
    }
}

macro_rules! readers {
    ($($type:ty => $value:ty: |$argument:ident| $read:expr;)*) => {
        $(
            // SAFETY: the reader below reads the values that the type accepts.
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
    // SAFETY: the argument is text, and references to text are transparent over its cell.
    String => &'a String: |argument| unsafe { &*core::ptr::from_ref(argument).cast() };
    // SAFETY: the argument is a module.
    Module => &'a Module: |argument| unsafe { object(argument) };
}

/// The object in an argument, as a reference to a class.
///
/// # Safety
/// The argument is an object of class `T`, or of one that is used in ways that both classes have.
#[inline(always)]
pub(crate) unsafe fn object<'a, T: ObjectClass>(argument: &'a AnyView<'a>) -> &'a T {
    // SAFETY: the address of the object lies in the cell, and references are transparent over it.
    unsafe { &*(&raw const argument.as_raw().payload).cast() }
}
