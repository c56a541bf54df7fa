//! Builds for boards have no defaults: no other runtime is loaded beside them.
#![forbid(unsafe_code)]

use crate::builtins::StaticFunction;
use crate::error::Result;
use crate::function::Function;

/// None.
#[inline(always)]
pub(crate) fn may_have(_name: &[u8]) -> bool {
    false
}

/// None.
#[inline(always)]
pub(crate) fn find(_name: &[u8]) -> Option<&'static StaticFunction> {
    None
}

/// None.
#[inline(always)]
pub(crate) fn functions() -> impl Iterator<Item = &'static StaticFunction> {
    core::iter::empty()
}

/// None.
///
/// # Errors
/// None.
#[inline(always)]
#[allow(dead_code, reason = "the table of boards with one core does not ask")]
pub(crate) fn wrapped(_name: &[u8], _registered: &Function) -> Result<Option<Function>> {
    Ok(None)
}
