//! Builds for boards have no defaults: no other runtime is loaded beside them.
#![forbid(unsafe_code)]

use crate::builtins::StaticFunction;

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
