//! Options of structural equality and hash.
#![forbid(unsafe_code)]

use crate::structural::DefRegion;

/// Options of structural equality and hash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Whether a variable that the values do not define is defined by its first use.
    pub map_free_vars: bool,
    /// Whether to compare and hash tensors by shape and dtype only.
    pub skip_tensor_content: bool,
}

impl Options {
    pub(super) fn region(self) -> DefRegion {
        if self.map_free_vars { DefRegion::PATTERN } else { DefRegion::NONE }
    }
}
