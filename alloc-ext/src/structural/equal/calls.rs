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
/// Those of [`structural_equal`](super::structural_equal), and of [`AnyView::to_owned`] for broken values.
///
/// # Safety
/// `result` is valid for writing.
unsafe fn run(verb: Verb, operands: Operands<'_>, result: *mut TVMFFIAny) -> Result<()> {
    let first_option: usize = if matches!(verb, Verb::StructuralEqual) { 2 } else { 1 };
    // SAFETY: each operation has the arguments that are used here, which `last_operand` knows.
    let value = |index| unsafe { operands.whole_any(index) };
    // SAFETY: as above.
    let option = |index| unsafe { operands.integer(first_option + index) } != 0;
    let options = Options { map_free_vars: option(0), skip_tensor_content: option(1) };
    let answer = match verb {
        Verb::StructuralEqual => Any::from(walks::equal(value(0)?, value(1)?, options)?),
        _ => Any::from(walks::hash(value(0)?, options)? as i64),
    };
    // SAFETY: the caller vouches for the cell.
    unsafe { result.write(answer.into_raw()) };
    Ok(())
}
