//! Checkpoints.

/// A checkpoint that is being imported.
pub(super) struct Import {}
