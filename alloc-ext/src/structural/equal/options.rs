//! Options of structural equality and hash.
#![forbid(unsafe_code)]

use crate::structural::DefRegion;

/// Options of structural equality and hash.
///
/// # Examples
/// ```
/// use ferrite_alloc_ext::structural::{Options, Structural};
/// use ferrite_core::Tensor;
///
/// # fn main() -> ferrite_core::Result<()> {
/// let (a, b) = (Tensor::from_slice(&[1.0f32], &[1])?, Tensor::from_slice(&[2.0f32], &[1])?);
/// assert!(!a.structural_equal(&b)?);
/// assert!(a.structural_equal_with(&b, Options { skip_tensor_content: true, ..Options::default() })?);
/// # Ok(())
/// # }
/// ```
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
