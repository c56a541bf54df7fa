//! Correspondence between objects of the left and the right side.
#![forbid(unsafe_code)]

use ferrite_core::any::Any;
use ferrite_core::error::Result;
use ferrite_core::object::ObjectRef;

use crate::walk::IdentityMap;

/// Pairs of corresponding variables or graph nodes. An object is in at most one pair.
#[derive(Default)]
pub(super) struct Bindings {
    by_left: IdentityMap<Any>,
    by_right: IdentityMap<Any>,
}

impl Bindings {
    /// Returns whether two objects are a pair; `None` if neither is in any pair.
    pub(super) fn are_bound(&self, lhs: &ObjectRef, rhs: &ObjectRef) -> Option<bool> {
        match self.by_left.get(lhs) {
            Some(partner) => Some(partner.as_object().is_some_and(|partner| partner.ptr_eq(rhs))),
            None => self.by_right.get(rhs).map(|_| false),
        }
    }

    /// Adds a pair.
    ///
    /// # Errors
    /// MemoryError.
    pub(super) fn bind(&mut self, lhs: &ObjectRef, rhs: &ObjectRef) -> Result<()> {
        self.by_left.insert(lhs, Any::new(rhs.clone()))?;
        self.by_right.insert(rhs, Any::new(lhs.clone()))
    }

    /// Returns the right object of a pair by its left one.
    pub(super) fn to_right(&self, lhs: &Any) -> Option<&Any> {
        self.by_left.get(lhs)
    }

    /// Returns the left object of a pair by its right one.
    pub(super) fn to_left(&self, rhs: &Any) -> Option<&Any> {
        self.by_right.get(rhs)
    }
}
