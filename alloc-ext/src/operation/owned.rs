//! Arguments of closures, checked and converted as those of an operation.
#![forbid(unsafe_code)]

use ferrite_core::any::{Any, AnyView};
use ferrite_core::error::Result;
use ferrite_core::typed::Callee;

use super::{MOST, Param, convert, fits};

/// Puts owned values of the arguments of a function, whose types are given as those of an operation, where they are asked for.
///
/// # Errors
///
/// TypeError; what conversions raise.
pub(crate) fn own(
    callee: &Callee<'_>,
    params: &[Param],
    args: &[AnyView<'_>],
    owned: &mut [Any; MOST],
) -> Result<()> {
    fits(callee, params, args)?;
    convert(callee, params, args, owned)
}
