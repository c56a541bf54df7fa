//! Bindings: a one-to-one mapping between variables or graph nodes of the left and the right value.
#![forbid(unsafe_code)]

use ferrite_core::error::Result;
use ferrite_core::object::ObjectRef;
use ferrite_core::value::any::Any;

use crate::walk::IdentityMap;

/// One-to-one mapping between variables or graph nodes of the left and the right value.
#[derive(Default)]
pub(super) struct Bindings {
    by_left: IdentityMap<Any>,
    by_right: IdentityMap<Any>,
}

impl Bindings {
    /// Returns whether two objects are bound to each other; `None` if neither is bound.
    pub(super) fn are_bound(&self, lhs: &ObjectRef, rhs: &ObjectRef) -> Option<bool> {
        match self.by_left.get(lhs) {
            Some(partner) => Some(partner.as_object().is_some_and(|partner| partner.ptr_eq(rhs))),
            None => self.by_right.get(rhs).map(|_| false),
        }
    }

    /// Binds two objects to each other.
    ///
    /// # Errors
    /// MemoryError.
    pub(super) fn bind(&mut self, lhs: &ObjectRef, rhs: &ObjectRef) -> Result<()> {
        self.by_left.insert(lhs, Any::new(rhs.clone()))?;
        self.by_right.insert(rhs, Any::new(lhs.clone()))
    }

    /// Returns the right object that a left object is bound to.
    pub(super) fn to_right(&self, lhs: &Any) -> Option<&Any> {
        self.by_left.get(lhs)
    }

    /// Returns the left object that a right object is bound to.
    pub(super) fn to_left(&self, rhs: &Any) -> Option<&Any> {
        self.by_right.get(rhs)
    }
}
