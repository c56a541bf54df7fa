//! No lookup of its own for texts, where size counts: they are keys like others.
#![forbid(unsafe_code)]

use ferrite_core::any::AnyView;

use crate::containers::map_dense::Dense;

/// Never an answer.
pub(super) fn find(_: Dense<'_>, _: &AnyView<'_>, _: u64) -> Option<usize> {
    None
}
