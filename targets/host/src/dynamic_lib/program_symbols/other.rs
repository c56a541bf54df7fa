//! Systems whose programs show their symbols, or cannot be told to.

use super::Symbol;

/// Does nothing.
pub(super) fn load(_: &[Symbol]) {}
