//! Builds without any group of global functions: the global function table starts empty.

/// Does nothing: there are no built-in functions.
#[inline]
pub(crate) fn ensure_installed() {}
