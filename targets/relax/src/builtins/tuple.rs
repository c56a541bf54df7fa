//! Tuples, which are Arrays.

use super::Builtin;

/// The builtins of this file.
pub const BUILTINS: &[Builtin] = &[];
