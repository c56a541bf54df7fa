//! What the walk that hashes gets to.
#![forbid(unsafe_code)]

use ferrite_core::object::ObjectRef;

use crate::dataclass::{combine, type_key_hash};
use crate::structural::DefRegion;
use crate::walk::MaybeOwned;

/// An object to hash, and the region that it is in.
pub(super) struct Node<'w> {
    pub object: MaybeOwned<'w, ObjectRef>,
    pub region: DefRegion,
    /// Whether the walk may meet it again. Hashes of containers are not remembered, so that what is in one is met as often
    /// as the container.
    pub is_shared: bool,
}

impl<'w> Node<'w> {
    pub(super) fn new(object: MaybeOwned<'w, ObjectRef>, region: DefRegion) -> Self {
        let is_shared = !object.is_unshared_by_count();
        Self { object, region, is_shared }
    }

    /// A value in a container that is no leaf, and so an object. `is_shared` says whether the container is.
    #[inline(always)]
    pub(super) fn inside(value: MaybeOwned<'w>, region: DefRegion, is_shared: bool) -> Option<Self> {
        value.into_object().map(|object| {
            let is_shared = is_shared || !object.is_unshared_by_count();
            Self { object, region, is_shared }
        })
    }

    /// An object that the walk got from the getter of a field.
    pub(super) fn in_field(object: ObjectRef, region: DefRegion) -> Self {
        Self::new(MaybeOwned::Owned(object), region)
    }
}

/// What the hash of a container starts with: its type and size.
pub(super) fn first_hash(type_index: i32, len: usize) -> u64 {
    combine(type_key_hash(type_index), len as u64)
}
