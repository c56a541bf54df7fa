//! Symbolic shapes: the heap that holds their values, and checks against them.

use super::Builtin;

/// The builtins of this file.
pub const BUILTINS: &[Builtin] = &[];
