//! Order of walks.
#![forbid(unsafe_code)]

/// Order of callbacks in a walk.
///
/// # Upstream
/// `WalkOrder` in `extra/structural_visit.h`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WalkOrder {
    /// Before the children of a node.
    Pre,
    /// After the children of a node.
    Post,
}
