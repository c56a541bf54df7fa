//! Nodes of the comparison walk: pairs of objects to compare.
#![forbid(unsafe_code)]

use ferrite_core::object::ObjectRef;

use crate::structural::DefRegion;
use crate::walk::MaybeOwned;

/// Two objects of the same type to compare, with the definition region that contains them.
#[derive(Clone, Copy)]
pub(super) struct Pair<T> {
    pub lhs: T,
    pub rhs: T,
    pub region: DefRegion,
}

/// Node of the comparison walk: two objects, each borrowed or owned.
pub(super) type NodePair<'w> = Pair<MaybeOwned<'w, ObjectRef>>;

impl<'w> NodePair<'w> {
    /// Creates a pair from two values of the same type; `None` if they are not objects.
    #[inline(always)]
    pub(super) fn of(lhs: MaybeOwned<'w>, rhs: MaybeOwned<'w>, region: DefRegion) -> Option<Self> {
        Some(Self { lhs: lhs.into_object()?, rhs: rhs.into_object()?, region })
    }

    /// Borrows both objects.
    #[inline]
    pub(super) fn borrowed(&self) -> Pair<&ObjectRef> {
        Pair { lhs: &self.lhs, rhs: &self.rhs, region: self.region }
    }
}

impl Pair<ObjectRef> {
    /// Converts a pair of owned objects into a node.
    #[inline(always)]
    pub(super) fn into_node<'w>(self) -> NodePair<'w> {
        Pair {
            lhs: MaybeOwned::Owned(self.lhs),
            rhs: MaybeOwned::Owned(self.rhs),
            region: self.region,
        }
    }
}
