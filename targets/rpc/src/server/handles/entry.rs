//! Entries of the table of handles.
#![forbid(unsafe_code)]

use ferrite_core::{ObjectRef, Tensor};

/// Marks the end of the list of free entries.
pub(super) const NO_ENTRY: u32 = u32::MAX;

/// The content of an entry.
pub(in super::super) enum Content {
    /// Nothing; the number of the next free entry.
    Free(u32),
    /// An object that a call returned.
    Object(ObjectRef),
    /// Data that the client allocated.
    Data(Tensor),
    /// A stream that the client created.
    #[cfg(feature = "devices")]
    Stream(super::super::session_stream::SessionStream),
}

/// An entry of the table.
pub(super) struct Entry {
    pub(super) generation: u32,
    pub(super) content: Content,
}

impl Entry {
    /// A free entry that was never used.
    pub(super) const NEW: Entry = Entry { generation: 1, content: Content::Free(NO_ENTRY) };
}
