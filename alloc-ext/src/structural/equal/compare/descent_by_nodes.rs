//! Descent to objects in fields as to all other values, where size counts.
#![forbid(unsafe_code)]

use ferrite_core::error::Result;
use ferrite_core::memory::Buffer;

use super::super::compare_frame::HeldPair;
use super::{Frame, Walk};
use crate::walk::Descent;

/// The way of all nodes: the signature is that of its faster twin.
pub(super) fn descend<'w>(
    _: &mut Walk<'_, 'w>,
    _: &mut Buffer<Frame<'w>>,
) -> Result<Descent<HeldPair<'w>, bool>> {
    Ok(Descent::ByNode)
}
