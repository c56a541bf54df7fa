//! Descriptors of operations, and their enums.

use ferrite_core::abi::TVMFFIAny;
use ferrite_core::error::Result;
use ferrite_core::value::any::{Any, AnyView};

use super::operand::{Answer, Operands};
use super::types::{Copying, MAX_PARAMS, NO_ARGUMENTS, Types, convert};

/// Operations of one module: an enum with one variant per operation, whose fields are the operands.
pub(crate) trait Operations: Copy + 'static {
    /// Copies an Array or Map argument for an operation that mutates a List or Dict. A constant, so
    /// that modules without such operations do not link the conversion.
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
    pub(super) types: Types,
    /// Discriminant of the enum variant, whose fields are zero-sized.
    code: u8,
    family: &'static Family,
}

/// Dispatch table of a group of operations that share one `run` function.
struct Family {
    run: Run,
    copy: Option<Copying>,
}

/// Function that runs the operation with the given discriminant.
type Run = unsafe fn(u8, Operands<'_>, Answer<'_>) -> Result<()>;

impl Operation {
    /// Creates the descriptor of an enum variant.
    pub(crate) const fn new<O: Operations>(
        name: &'static str,
        types: Types,
        variant: O,
    ) -> Operation {
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
    /// The arguments must be as many as the operation has, and of its types; `result` must be valid
    /// for writing.
    #[inline(always)]
    pub(super) unsafe fn run(&self, args: &[AnyView<'_>], result: *mut TVMFFIAny) -> Result<()> {
        // SAFETY: the code is a discriminant of this family's enum; the caller guarantees the rest.
        unsafe { (self.family.run)(self.code, Operands::new(args), Answer::new(result)) }
    }

    /// Runs the operation on owned arguments.
    ///
    /// # Errors
    /// Errors of the operation.
    ///
    /// # Safety
    /// Same requirements as [`run`](Self::run).
    #[inline(always)]
    pub(super) unsafe fn run_owned(
        &self,
        args: &[Any; MAX_PARAMS],
        result: *mut TVMFFIAny,
    ) -> Result<()> {
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
#[inline(always)]
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
#[cold]
#[inline(never)]
pub(super) unsafe fn call_converted(
    operation: &Operation,
    args: &[AnyView<'_>],
    result: *mut TVMFFIAny,
) -> Result<()> {
    let mut owned = NO_ARGUMENTS;
    convert(operation.name, &operation.types, operation.family.copy, args, &mut owned)?;
    // SAFETY: converted arguments have the operation's types; the caller guarantees the result
    // cell.
    unsafe { operation.run_owned(&owned, result) }
}
