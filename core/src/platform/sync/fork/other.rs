//! Systems without forks.
#![forbid(unsafe_code)]

/// Does nothing: the process cannot fork.
pub(super) fn register() {}
