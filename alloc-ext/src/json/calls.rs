//! The bodies of the global functions on JSON.

use ferrite_core::abi::TVMFFIAny;
use ferrite_core::any::Any;
use ferrite_core::error::Result;

use super::{parse, stringify};
use crate::operation::{Family, Operands, Verb};

/// What the operations here share.
pub(super) const FAMILY: Family = Family::new(run);

/// Runs an operation.
///
/// # Errors
/// Those of [`parse`] and [`stringify`].
///
/// # Safety
/// `result` is valid for writing.
unsafe fn run(verb: Verb, operands: Operands<'_>, result: *mut TVMFFIAny) -> Result<()> {
    // SAFETY: each operation has the arguments that are used here, which `last_operand` knows.
    let answer = unsafe {
        match verb {
            Verb::Parse => parse(operands.text(0).as_bytes())?,
            _ => {
                let indent = operands.value(1);
                // It is a C `int`: larger numbers wrap, as they do upstream.
                let indent = (!indent.is_none()).then(|| i64::from(indent.payload_bits() as i32));
                Any::from(stringify(&operands.value(0).to_owned()?, indent)?)
            }
        }
    };
    // SAFETY: the caller vouches for the cell.
    unsafe { result.write(answer.into_raw()) };
    Ok(())
}
