//! Stubs for size-optimised builds, which have no fast paths.
#![forbid(unsafe_code)]

use ferrite_core::error::Result;
use ferrite_core::value::any::Any;

/// Returns `Some(0)`: no element is known to be equal.
#[inline(always)]
pub(in crate::structural::equal::compare) fn compare_arrays(
    _: &Any,
    _: &Any,
    _: bool,
) -> Result<Option<usize>> {
    Ok(Some(0))
}
