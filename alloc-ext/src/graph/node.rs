//! A node that is written: its content, and the interface of what receives it.
#![forbid(unsafe_code)]

use ferrite_core::any::Any;
use ferrite_core::error::Result;

/// What a node holds besides its type.
pub(super) enum Data<'a> {
    /// Nothing: there is no `data`.
    Absent,
    /// A JSON value.
    Value(&'a Any),
    /// Integers: numbers of nodes, or plain ones.
    Integers(&'a [i64]),
    /// Names and JSON values of fields; no name comes twice.
    Fields(&'a [(&'static [u8], Any)]),
}

/// Where nodes go, in their order.
pub(super) trait Nodes {
    /// Takes the next node.
    ///
    /// # Errors
    /// MemoryError; ValueError for a value that this form of a graph cannot hold.
    fn push(&mut self, type_key: &[u8], data: Data<'_>) -> Result<()>;
}
