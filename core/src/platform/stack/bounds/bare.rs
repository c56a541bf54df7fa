//! Stack bounds on bare metal: unknown.
#![forbid(unsafe_code)]

use super::TooDeep;

/// Returns `false`: the bounds are unknown.
///
/// # Errors
/// Never fails.
#[inline(always)]
pub(in crate::platform::stack) fn have_space() -> Result<bool, TooDeep> {
    Ok(false)
}
