//! Global functions that come in families: the types of their arguments are data, and one body checks them all.
//!
//! A module with such functions has an enum of them that implements [`Operations`]. Each variant lists the operands of one
//! operation, an [`Operand`] with position and type each, and only these can be read. A row of the function table, made by
//! [`operation!`], names variant, function and parameter types; it compiles when the types are those of the variant's operands.
//!
//! | file | holds |
//! |---|---|
//! | `types` | parameter and result types as data: checks, conversions, signatures |
//! | `operand` | the operands of an operation, and how the body reads them |
//! | `key` | a parameter type whose comparison may run user callbacks |
//! | `fast`, `small` | how calls are served: arguments used in place where possible, or always converted |
//!
//! `fast` and `small` have in common:
//!
//! | item | meaning |
//! |---|---|
//! | `static_operation!` | the static function of a row, from a constant `OPERATION` and one of `hot`, `plain` and `owning` |
//! | `Argument::to_owned` | a copy of the argument |
//! | `Argument::whole` | the argument, after a check of its cell where the conversion has made none |

use ferrite_core::abi::TVMFFIAny;
use ferrite_core::any::{Any, AnyView};
use ferrite_core::error::Result;

#[cfg_attr(feature = "speed", path = "fast.rs")]
#[cfg_attr(not(feature = "speed"), path = "small.rs")]
mod entry;
mod key;
mod operand;
mod types;

pub(crate) use entry::*;
pub(crate) use key::Key;
pub(crate) use operand::{Answer, Argument, Operand, Operands, Parameter, Read, object};
#[cfg(any(test, not(feature = "speed")))]
pub(crate) use types::Type;
pub(crate) use types::{Copying, MOST, NOTHING, TypeOfRust, Types, convert};

/// The operations of one module: an enum with a variant for each, whose fields are its operands.
pub(crate) trait Operations: Copy + 'static {
    /// Copies an Array or Map for an operation that changes a List or Dict. Data, so that it costs nothing where none does.
    const COPY: Option<Copying> = None;

    /// Runs the operation and writes its result.
    ///
    /// # Errors
    /// Those of the operation; the result cell is unchanged then.
    fn run(self, operands: Operands<'_>, answer: Answer<'_>) -> Result<()>;
}

/// One function of a family.
pub(crate) struct Operation {
    /// The name, for messages.
    pub(crate) name: &'static str,
    types: Types,
    /// The variant of the enum of operations, whose other fields take no memory.
    code: u8,
    family: &'static Family,
}

/// The part that the operations of one enum share.
struct Family {
    run: Run,
    copy: Option<Copying>,
}

/// Runs the operation with a code.
type Run = unsafe fn(u8, Operands<'_>, Answer<'_>) -> Result<()>;

impl Operation {
    /// The operation of a variant.
    pub(crate) const fn new<O: Operations>(name: &'static str, types: Types, variant: O) -> Operation {
        const {
            assert!(
                size_of::<O>() == 1,
                "an enum of operations has operands in its variants, and nothing else"
            )
        };
        // SAFETY: the variant is one byte, which is initialised: it tells the variants apart.
        let code = unsafe { (&raw const variant).cast::<u8>().read() };
        Operation { name, types, code, family: const { &Family { run: run::<O>, copy: O::COPY } } }
    }

    /// Runs the operation.
    ///
    /// # Errors
    /// Those of the operation.
    ///
    /// # Safety
    /// The arguments are of the operation's types, and `result` is valid for writing.
    #[inline(always)]
    unsafe fn run(&self, args: &[AnyView<'_>], result: *mut TVMFFIAny) -> Result<()> {
        // SAFETY: the code is that of a variant of this family; the caller vouches for the rest.
        unsafe { (self.family.run)(self.code, Operands::new(args), Answer::new(result)) }
    }

    /// Runs the operation on owned arguments.
    ///
    /// # Errors
    /// Those of the operation.
    ///
    /// # Safety
    /// As [`run`](Self::run).
    #[inline(always)]
    unsafe fn run_owned(&self, args: &[Any; MOST], result: *mut TVMFFIAny) -> Result<()> {
        // SAFETY: both forms of values are transparent over a cell; the caller vouches for the rest.
        unsafe { self.run(&*core::ptr::from_ref(args).cast::<[AnyView<'_>; MOST]>(), result) }
    }
}

/// Runs the operation whose variant is `code`.
///
/// # Errors
/// Those of the operation.
///
/// # Safety
/// `code` is a variant of `O`, and the operands are of its types.
#[cfg_attr(feature = "speed", inline(always))]
unsafe fn run<O: Operations>(code: u8, operands: Operands<'_>, answer: Answer<'_>) -> Result<()> {
    // SAFETY: the caller vouches for the code, which is all of the variant.
    let operation = unsafe { core::mem::transmute_copy::<u8, O>(&code) };
    operation.run(operands, answer)
}

/// Converts the arguments of an operation and runs it.
///
/// # Errors
/// TypeError; those of conversions and of the operation.
///
/// # Safety
/// `result` is valid for writing.
#[cfg_attr(feature = "speed", cold, inline(never))]
unsafe fn call_converted(operation: &Operation, args: &[AnyView<'_>], result: *mut TVMFFIAny) -> Result<()> {
    let mut owned = NOTHING;
    convert(operation.name, &operation.types, operation.family.copy, args, &mut owned)?;
    // SAFETY: conversion gives the types of the operation; the caller vouches for the result.
    unsafe { operation.run_owned(&owned, result) }
}

/// Makes a row of a function table: the static function of an operation.
///
/// `operation!(Variant of enum, "name", (types of parameters) -> type of result)`. On hosts, a `hot` one has a body of its own;
/// an `owning` one keeps its arguments alive until it ends, since user callbacks or deleters that it runs may give up the
/// caller's references. Other operations are done with their arguments before user callbacks run, but for the hooks of a [`Key`].
macro_rules! operation {
    (hot $($row:tt)*) => { $crate::operation::operation!(@ hot, $($row)*) };
    (owning $($row:tt)*) => { $crate::operation::operation!(@ owning, $($row)*) };
    (@ $serve:ident, $variant:ident of $operations:ty, $name:literal, ($($param:ty),*) -> $result:ty) => {{
        use $crate::operation::{Operation, TypeOfRust, Types, operands};
        const OPERATION: &Operation = {
            let types = Types::new(&[$(<$param as TypeOfRust>::TYPE),*], <$result as TypeOfRust>::TYPE);
            // SAFETY: the operands are those of the types above, in order.
            let variant = unsafe { operands!(<$operations>::$variant, $($param),*) };
            &Operation::new($name, types, variant)
        };
        $crate::operation::static_operation!($serve, fn($($param),*) -> $result, ($($param,)*))
    }};
    ($($row:tt)*) => { $crate::operation::operation!(@ plain, $($row)*) };
}
pub(crate) use operation;

/// Makes a variant of its operands, which are numbered from 0 on.
macro_rules! operands {
    ($variant:expr, $a:ty) => {
        $variant($crate::operation::Operand::<0, _>::of::<$a>())
    };
    ($variant:expr, $a:ty, $b:ty) => {
        $variant(
            $crate::operation::Operand::<0, _>::of::<$a>(),
            $crate::operation::Operand::<1, _>::of::<$b>(),
        )
    };
    ($variant:expr, $a:ty, $b:ty, $c:ty) => {
        $variant(
            $crate::operation::Operand::<0, _>::of::<$a>(),
            $crate::operation::Operand::<1, _>::of::<$b>(),
            $crate::operation::Operand::<2, _>::of::<$c>(),
        )
    };
    ($variant:expr, $a:ty, $b:ty, $c:ty, $d:ty) => {
        $variant(
            $crate::operation::Operand::<0, _>::of::<$a>(),
            $crate::operation::Operand::<1, _>::of::<$b>(),
            $crate::operation::Operand::<2, _>::of::<$c>(),
            $crate::operation::Operand::<3, _>::of::<$d>(),
        )
    };
}
pub(crate) use operands;
