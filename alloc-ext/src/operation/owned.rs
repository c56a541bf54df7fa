//! Arguments of closures, checked and converted as those of an operation.
#![forbid(unsafe_code)]

use ferrite_core::any::{Any, AnyView};
use ferrite_core::error::Result;
use ferrite_core::typed::Callee;

use super::{MOST, Param, converted, fits};

/// Owned values of the arguments of a function whose types are given as those of an operation.
///
/// # Errors
///
/// TypeError; what conversions raise.
pub(crate) fn owned(callee: &Callee<'_>, params: &[Param], args: &[AnyView<'_>]) -> Result<[Any; MOST]> {
    fits(callee, params, args)?;
    converted(callee, params, args)
}
