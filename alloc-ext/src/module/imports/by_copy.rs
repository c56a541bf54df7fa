//! Imports are appended to a copy each time: firmware has few, and size counts there.
#![forbid(unsafe_code)]

use super::Module;

/// Never appends.
#[inline(always)]
pub(super) fn append(_module: &Module, _other: &Module, _before: usize) -> Option<bool> {
    Some(false)
}
