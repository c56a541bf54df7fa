//! Control flow and closures.

use super::Builtin;

/// The builtins of this file.
pub const BUILTINS: &[Builtin] = &[];
