//! All that is not a leaf is a node with a frame, where size counts more than speed.
#![forbid(unsafe_code)]

use ferrite_core::any::Any;
use ferrite_core::error::Result;
use ferrite_core::memory::Buffer;

use super::pair::HeldPair;
use super::walk::{Frame, Walk};
use crate::walk::NextChild;

/// Knows nothing of what is inside. The signatures here are those of the faster twins.
#[inline(always)]
pub(super) fn compare_arrays(_: &Any, _: &Any, _: bool) -> Result<Option<usize>> {
    Ok(Some(0))
}

/// Goes the way of all nodes.
pub(super) fn descend<'w>(
    _: &mut Walk<'_, 'w>,
    _: &mut Buffer<Frame<'w>>,
) -> Result<NextChild<HeldPair<'w>, bool>> {
    Ok(NextChild::ByNode)
}
