//! Default functions in builds without the feature `defaults`: none.
#![forbid(unsafe_code)]

use crate::call::function::Function;
use crate::error::Result;
use crate::names::builtins::StaticFunction;

/// Returns `false`: there are no default functions.
#[inline(always)]
pub(crate) fn may_have(_name: &[u8]) -> bool {
    false
}

/// Returns `None`: there are no default functions.
#[inline(always)]
pub(crate) fn find(_name: &[u8]) -> Option<&'static StaticFunction> {
    None
}

/// Returns an empty iterator.
#[inline(always)]
pub(crate) fn functions() -> impl Iterator<Item = &'static StaticFunction> {
    core::iter::empty()
}

/// Returns `None`: there are no default functions.
///
/// # Errors
/// None.
#[inline(always)]
pub(crate) fn wrapped(_name: &[u8], _registered: &Function) -> Result<Option<Function>> {
    Ok(None)
}
