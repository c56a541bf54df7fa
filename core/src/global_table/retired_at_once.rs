//! Functions taken out of the table where readers retain in one step with seeing: nothing waits.
#![forbid(unsafe_code)]

use super::Slot;
use crate::error::Result;
use crate::function::Function;

/// A place on a list that stays empty.
pub(super) struct Node;

impl Node {
    pub(super) fn new() -> Result<Node> {
        Ok(Node)
    }
}

/// No functions.
pub(super) struct Retired;

impl Retired {
    pub(super) const fn new() -> Retired {
        Retired
    }

    /// Never called: slots are always quiet.
    pub(super) fn push(&mut self, _node: Node, _slot: &'static Slot, _function: Function) {}

    /// None.
    pub(super) fn take_unreachable(&mut self) -> Option<Function> {
        None
    }
}
