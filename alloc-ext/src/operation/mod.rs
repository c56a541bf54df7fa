//! Operations: families of global functions that share one argument-checking body, which reads the parameter types from
//! tables.
//!
//! A module defines its operations as an enum that implements [`Operations`]. The fields of a variant are the operands of one
//! operation: each is an [`Operand`] with a position and a type, without which an argument cannot be read. A row of the
//! function table, created by [`operation!`], names the variant, the function and the parameter types. It compiles only if
//! the types match the variant's operands.
//!
//! | file | purpose |
//! |---|---|
//! | `types` | runtime descriptors of parameter and result types: argument checks, conversions, signatures |
//! | `operand` | the operands of an operation, and how bodies read them |
//! | `key` | the parameter type for lookup keys, whose comparison may run user callbacks |
//! | `fast`, `small` | dispatch: uses arguments in place where possible, or always converts them |
//!
//! Interface of `fast` and `small`:
//!
//! | item | meaning |
//! |---|---|
//! | `static_operation!` | creates the static function for a row, from a constant `OPERATION` and one of `hot`, `plain` and
//! `owning` |
//! | `Argument::to_owned` | returns an owned copy of the argument |
//! | `Argument::whole` | borrows the argument, after validating its cell unless conversion has validated it |

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
pub(crate) use types::{Copying, MAX_PARAMS, NO_ARGUMENTS, TypeOfRust, Types, convert};

/// Operations of one module: an enum with one variant per operation, whose fields are the operands.
pub(crate) trait Operations: Copy + 'static {
    /// Copies an Array or Map argument for an operation that mutates a List or Dict. A constant, so that modules without such
    /// operations do not link the conversion.
    const COPY: Option<Copying> = None;

    /// Runs the operation and writes its result.
    ///
    /// # Errors
    /// Errors of the operation; the result cell is then unchanged.
    fn run(self, operands: Operands<'_>, answer: Answer<'_>) -> Result<()>;
}

/// Descriptor of an operation: name, types and body.
pub(crate) struct Operation {
    /// Name of the function, for error messages.
    pub(crate) name: &'static str,
    types: Types,
    /// Discriminant of the enum variant, whose fields are zero-sized.
    code: u8,
    family: &'static Family,
}

/// Descriptor of an enum of operations.
struct Family {
    run: Run,
    copy: Option<Copying>,
}

/// Function that runs the operation with the given discriminant.
type Run = unsafe fn(u8, Operands<'_>, Answer<'_>) -> Result<()>;

impl Operation {
    /// Creates the descriptor of an enum variant.
    pub(crate) const fn new<O: Operations>(name: &'static str, types: Types, variant: O) -> Operation {
        const {
            assert!(
                size_of::<O>() == 1,
                "an enum of operations has operands in its variants, and nothing else"
            )
        };
        // SAFETY: the variant is one initialised byte, its discriminant.
        let code = unsafe { (&raw const variant).cast::<u8>().read() };
        Operation { name, types, code, family: const { &Family { run: run::<O>, copy: O::COPY } } }
    }

    /// Runs the operation.
    ///
    /// # Errors
    /// Errors of the operation.
    ///
    /// # Safety
    /// The arguments must be as many as the operation has, and of its types; `result` must be valid for writing.
    #[inline(always)]
    unsafe fn run(&self, args: &[AnyView<'_>], result: *mut TVMFFIAny) -> Result<()> {
        // SAFETY: the code is a discriminant of this family's enum; the caller guarantees the rest.
        unsafe { (self.family.run)(self.code, Operands::new(args), Answer::new(result)) }
    }

    /// Runs the operation on owned arguments.
    ///
    /// # Errors
    /// Errors of the operation.
    ///
    /// # Safety
    /// Same as [`run`](Self::run).
    #[inline(always)]
    unsafe fn run_owned(&self, args: &[Any; MAX_PARAMS], result: *mut TVMFFIAny) -> Result<()> {
        // SAFETY: both types of values are transparent over a cell; the caller guarantees the rest.
        unsafe { self.run(&*core::ptr::from_ref(args).cast::<[AnyView<'_>; MAX_PARAMS]>(), result) }
    }
}

/// Runs the operation of `O` with discriminant `code`.
///
/// # Errors
/// Errors of the operation.
///
/// # Safety
/// `code` must be a discriminant of `O`, and the operands must have the types of that operation.
#[cfg_attr(feature = "speed", inline(always))]
unsafe fn run<O: Operations>(code: u8, operands: Operands<'_>, answer: Answer<'_>) -> Result<()> {
    // SAFETY: the caller guarantees the discriminant, which is all data of the variant.
    let operation = unsafe { core::mem::transmute_copy::<u8, O>(&code) };
    operation.run(operands, answer)
}

/// Converts the arguments of an operation and runs it.
///
/// # Errors
/// TypeError for a wrong number or type of arguments; errors of conversions and of the operation.
///
/// # Safety
/// `result` must be valid for writing.
#[cfg_attr(feature = "speed", cold, inline(never))]
unsafe fn call_converted(operation: &Operation, args: &[AnyView<'_>], result: *mut TVMFFIAny) -> Result<()> {
    let mut owned = NO_ARGUMENTS;
    convert(operation.name, &operation.types, operation.family.copy, args, &mut owned)?;
    // SAFETY: converted arguments have the operation's types; the caller guarantees the result cell.
    unsafe { operation.run_owned(&owned, result) }
}

/// Creates a row of a function table: the static function for an operation.
///
/// `operation!(Variant of enum, "name", (parameter types) -> result type)`. In speed-optimised builds, a `hot` operation has
/// a specialised body. An `owning` operation owns its arguments while it runs, since user callbacks or deleters may release
/// the caller's references. Other operations do not use their arguments after a user callback has run, except for the hooks
/// of a [`Key`].
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

/// Creates an enum variant from the types of its operands, at positions from 0.
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
