//! Encoded nodes, and the interface of their receivers.
#![forbid(unsafe_code)]

use ferrite_core::any::Any;
use ferrite_core::error::Result;

/// Data of a node, beside its type.
pub(super) enum Data<'a> {
    /// No `data` field.
    Absent,
    /// A JSON value.
    Value(&'a Any),
    /// A list of node indices or of plain integers.
    Integers(&'a [i64]),
    /// Names and JSON values of fields, without duplicates.
    Fields(&'a [(&'static [u8], Any)]),
}

/// Receiver of nodes, in graph order.
pub(super) trait Nodes {
    /// Appends a node.
    ///
    /// # Errors
    /// MemoryError; ValueError for a value that the output format cannot represent.
    fn push(&mut self, type_key: &[u8], data: Data<'_>) -> Result<()>;
}
