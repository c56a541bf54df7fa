//! The bodies of the global functions on structure.

use ferrite_core::abi::TVMFFIAny;
use ferrite_core::any::Any;
use ferrite_core::error::Result;

use super::{Options, walks};
use crate::operation::{Family, Operands, Verb};

/// What the operations here share.
pub(super) const FAMILY: Family = Family::new(run);

/// Runs an operation: one value or two, and then the options.
///
/// # Errors
///
/// Those of [`structural_equal`](super::structural_equal).
///
/// # Safety
///
/// `result` is valid for writing.
unsafe fn run(verb: Verb, operands: Operands<'_>, result: *mut TVMFFIAny) -> Result<()> {
    // SAFETY: each operation has the arguments that are used here, which `last_operand` knows.
    let (first, second) = unsafe { (operands.any(0), operands.any(1)) };
    let first_option: usize = if matches!(verb, Verb::StructuralEqual) { 2 } else { 1 };
    // SAFETY: as above.
    let option = |index| unsafe { operands.integer(first_option + index) } != 0;
    let options = Options { map_free_vars: option(0), skip_tensor_content: option(1) };
    let answer = match verb {
        Verb::StructuralEqual => Any::from(walks::equal(first, second, options)?),
        _ => Any::from(walks::hash(first, options)? as i64),
    };
    // SAFETY: the caller vouches for the cell.
    unsafe { result.write(answer.into_raw()) };
    Ok(())
}
