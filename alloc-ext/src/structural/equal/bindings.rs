//! Which objects of the left side stand for which of the right side.
#![forbid(unsafe_code)]

use ferrite_core::any::Any;
use ferrite_core::error::Result;

use crate::walk::Seen;

/// Pairs of variables or nodes of a graph, each in at most one pair.
#[derive(Default)]
pub(super) struct Bindings {
    by_left: Seen<Any, Any>,
    by_right: Seen<Any, Any>,
}

impl Bindings {
    /// Whether two objects are a pair; None when neither is in one.
    pub(super) fn are_bound(&self, lhs: &Any, rhs: &Any) -> Option<bool> {
        match self.by_left.get(lhs) {
            Some(partner) => Some(is_same(partner, rhs)),
            None => self.by_right.get(rhs).map(|_| false),
        }
    }

    /// Makes two objects a pair.
    ///
    /// # Errors
    ///
    /// MemoryError.
    pub(super) fn bind(&mut self, lhs: &Any, rhs: &Any) -> Result<()> {
        self.by_left.set(lhs, rhs.clone())?;
        self.by_right.set(rhs, lhs.clone())
    }

    /// What stands on the right side for a value of the left one.
    pub(super) fn to_right(&self, lhs: &Any) -> Any {
        partner_or_self(&self.by_left, lhs)
    }

    /// What stands on the left side for a value of the right one.
    pub(super) fn to_left(&self, rhs: &Any) -> Any {
        partner_or_self(&self.by_right, rhs)
    }
}

/// Whether two values are one object.
pub(super) fn is_same(lhs: &Any, rhs: &Any) -> bool {
    lhs.view().object_ptr() == rhs.view().object_ptr()
}

fn partner_or_self(partners: &Seen<Any, Any>, value: &Any) -> Any {
    let partner = value.view().object_ptr().and_then(|_| partners.get(value));
    partner.unwrap_or(value).clone()
}
