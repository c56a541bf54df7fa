//! Stub for systems on which the symbols of a program are exported already or cannot be exported.

use super::symbol::Symbol;

/// Does nothing: this system exports no symbols at run time.
pub(super) fn load(_: &[Symbol]) {}
