//! Nodes of the hash walk: objects to hash.
#![forbid(unsafe_code)]

use ferrite_core::object::ObjectRef;

use crate::dataclass::{combine, type_key_hash};
use crate::structural::DefRegion;
use crate::walk::MaybeOwned;

/// An object to hash, with the definition region that contains it.
pub(super) struct HashNode<'w> {
    pub object: MaybeOwned<'w, ObjectRef>,
    pub region: DefRegion,
    /// Whether the walk may reach the object again. Also set for all objects inside a shared
    /// container, since the hashes of containers are not cached.
    pub is_shared: bool,
}

impl<'w> HashNode<'w> {
    pub(super) fn new(object: MaybeOwned<'w, ObjectRef>, region: DefRegion) -> Self {
        let is_shared = !object.is_unshared_by_count();
        Self { object, region, is_shared }
    }

    /// Creates a node from an element of a container; `None` if the element is not an object.
    /// `is_shared`: whether the container is shared.
    #[inline(always)]
    pub(super) fn inside(
        value: MaybeOwned<'w>,
        region: DefRegion,
        is_shared: bool,
    ) -> Option<Self> {
        value.into_object().map(|object| {
            let is_shared = is_shared || !object.is_unshared_by_count();
            Self { object, region, is_shared }
        })
    }

    /// Creates a node from an object that a field getter returned.
    pub(super) fn in_field(object: ObjectRef, region: DefRegion) -> Self {
        Self::new(MaybeOwned::Owned(object), region)
    }
}

/// Returns the initial hash of a container, from its type and size.
pub(super) fn first_hash(type_index: i32, len: usize) -> u64 {
    combine(type_key_hash(type_index), len as u64)
}
