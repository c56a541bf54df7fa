//! What the walk that compares gets to.
#![forbid(unsafe_code)]

use ferrite_core::object::ObjectRef;

use crate::structural::DefRegion;
use crate::walk::MaybeOwned;

/// Two objects of one type to compare, and the region that they are in.
#[derive(Clone, Copy)]
pub(super) struct Pair<T> {
    pub lhs: T,
    pub rhs: T,
    pub region: DefRegion,
}

/// Two objects that the walk has got to.
pub(super) type HeldPair<'w> = Pair<MaybeOwned<'w, ObjectRef>>;

impl<'w> HeldPair<'w> {
    /// Two values of one type that are no leaves, and so objects.
    #[cfg_attr(feature = "speed", inline(always))]
    pub(super) fn of(lhs: MaybeOwned<'w>, rhs: MaybeOwned<'w>, region: DefRegion) -> Option<Self> {
        Some(Self { lhs: lhs.into_object()?, rhs: rhs.into_object()?, region })
    }

    /// The same objects, lent.
    #[inline]
    pub(super) fn borrowed(&self) -> Pair<&ObjectRef> {
        Pair { lhs: &self.lhs, rhs: &self.rhs, region: self.region }
    }
}

impl Pair<ObjectRef> {
    /// The same objects, held by the walk.
    #[inline(always)]
    pub(super) fn into_held<'w>(self) -> HeldPair<'w> {
        Pair { lhs: MaybeOwned::Owned(self.lhs), rhs: MaybeOwned::Owned(self.rhs), region: self.region }
    }
}
