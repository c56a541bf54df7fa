//! Stubs for size-optimised builds, which have no fast paths.
#![forbid(unsafe_code)]

use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::value::any::Any;

use crate::structural::equal::compare::pair::NodePair;
use crate::structural::equal::compare::walk::{Frame, Walk};
use crate::walk::NextChild;

/// Returns `Some(0)`: no element is known to be equal.
#[inline(always)]
pub(in crate::structural::equal::compare) fn compare_arrays(
    _: &Any,
    _: &Any,
    _: bool,
) -> Result<Option<usize>> {
    Ok(Some(0))
}

/// Returns [`NextChild::ByNode`]: every child is entered as a node.
pub(in crate::structural::equal::compare) fn descend<'w>(
    _: &mut Walk<'_, 'w>,
    _: &mut Buffer<Frame<'w>>,
) -> Result<NextChild<NodePair<'w>, bool>> {
    Ok(NextChild::ByNode)
}
