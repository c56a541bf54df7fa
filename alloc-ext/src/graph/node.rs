//! Encoded nodes, and the trait of the sinks that receive them.
#![forbid(unsafe_code)]

use ferrite_core::error::Result;
use ferrite_core::value::any::Any;

/// The `data` part of a node.
pub(super) enum Data<'a> {
    /// No `data` field.
    Absent,
    /// A JSON value.
    Value(&'a Any),
    /// A JSON array of node indices or of plain integers.
    Integers(&'a [i64]),
    /// Names and JSON values of fields, without duplicates.
    Fields(&'a [(&'static [u8], Any)]),
}

/// Sink for encoded nodes, which arrive in graph order.
pub(super) trait Nodes {
    /// Appends a node.
    ///
    /// # Errors
    /// MemoryError; ValueError for a value that the output format cannot represent.
    fn push(&mut self, type_key: &[u8], data: Data<'_>) -> Result<()>;
}
