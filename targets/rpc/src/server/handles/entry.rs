//! Entries of the table of handles.
#![forbid(unsafe_code)]

use ferrite_core::{ObjectRef, Tensor};

use crate::wire::code;

/// The content of an entry.
pub(in super::super) enum Content {
    /// Nothing; the number of the next free entry plus one, or 0.
    Free(u32),
    /// An object that a call returned.
    Object(ObjectRef),
    /// Data that the client allocated.
    Data(Tensor),
    /// A stream that the client created.
    #[cfg(feature = "devices")]
    Stream(super::super::session_stream::SessionStream),
}

impl Content {
    /// Returns the code of the request that frees such an entry; 0 for free ones.
    pub(super) const fn freed_by(&self) -> i32 {
        match self {
            Content::Free(_) => 0,
            Content::Object(_) => code::FREE_HANDLE,
            Content::Data(_) => code::FREE_DATA,
            #[cfg(feature = "devices")]
            Content::Stream(_) => code::FREE_STREAM,
        }
    }
}

/// An entry of the table.
pub(super) struct Entry {
    pub(super) generation: u32,
    pub(super) content: Content,
}

impl Entry {
    /// A free entry that was never used: zeros, so that a static table takes no flash.
    pub(super) const NEW: Entry = Entry { generation: 0, content: Content::Free(0) };
}
