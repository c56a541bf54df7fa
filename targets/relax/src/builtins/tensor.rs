//! Checks and views of tensors.

use super::Builtin;

/// The builtins of this file.
pub const BUILTINS: &[Builtin] = &[];
