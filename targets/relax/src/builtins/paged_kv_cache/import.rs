//! State of the import of a checkpoint.

use ferrite_core::platform::memory::Buffer;

/// A checkpoint that is being imported.
pub(super) struct Import {
    /// Whether the tensor of each layer was imported.
    pub(super) imported: Buffer<bool>,
}
