//! Which objects of the left side stand for which of the right side.
#![forbid(unsafe_code)]

use ferrite_core::any::Any;
use ferrite_core::error::Result;
use ferrite_core::object::ObjectRef;

use crate::walk::IdentityMap;

/// Pairs of variables or nodes of a graph, each in at most one pair.
#[derive(Default)]
pub(super) struct Bindings {
    by_left: IdentityMap<Any>,
    by_right: IdentityMap<Any>,
}

impl Bindings {
    /// Whether two objects are a pair; None when neither is in one.
    pub(super) fn are_bound(&self, lhs: &ObjectRef, rhs: &ObjectRef) -> Option<bool> {
        match self.by_left.get(lhs) {
            Some(partner) => Some(partner.as_object().is_some_and(|partner| partner.ptr_eq(rhs))),
            None => self.by_right.get(rhs).map(|_| false),
        }
    }

    /// Makes two objects a pair.
    ///
    /// # Errors
    /// MemoryError.
    pub(super) fn bind(&mut self, lhs: &ObjectRef, rhs: &ObjectRef) -> Result<()> {
        self.by_left.insert(lhs, Any::new(rhs.clone()))?;
        self.by_right.insert(rhs, Any::new(lhs.clone()))
    }

    /// What stands on the right side for a value of the left one, if anything does.
    pub(super) fn to_right(&self, lhs: &Any) -> Option<&Any> {
        self.by_left.get(lhs)
    }

    /// What stands on the left side for a value of the right one, if anything does.
    pub(super) fn to_left(&self, rhs: &Any) -> Option<&Any> {
        self.by_right.get(rhs)
    }
}
