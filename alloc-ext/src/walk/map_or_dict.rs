//! A map object of either class, whose entries are found by their places.

use ferrite_core::any::Any;
use ferrite_core::object::ObjectRef;

use crate::containers::{DictObject, MapObject};

/// A map object of either class.
#[derive(Clone, Copy)]
pub(super) enum MapOrDict<'a> {
    Map(&'a MapObject),
    Dict(&'a DictObject),
}

impl<'a> MapOrDict<'a> {
    #[inline]
    pub(super) fn of(object: &'a ObjectRef) -> Option<Self> {
        match object.as_class() {
            Some(map) => Some(Self::Map(map)),
            None => object.as_class().map(Self::Dict),
        }
    }

    /// Number of entries.
    pub(super) fn len(self) -> usize {
        match self {
            Self::Map(map) => map.len(),
            Self::Dict(dict) => dict.len(),
        }
    }

    /// The place of the first entry in order.
    pub(super) fn first_slot(self) -> Option<u64> {
        match self {
            Self::Map(map) => map.first_slot(),
            Self::Dict(dict) => dict.first_slot(),
        }
    }

    /// The place of the entry after the one at `place`.
    #[inline]
    pub(super) fn next_slot(self, place: u64) -> Option<u64> {
        match self {
            Self::Map(map) => map.next_slot(place),
            Self::Dict(dict) => dict.next_slot(place),
        }
    }

    /// Key and value at a place, if an entry is there, as they lie in memory.
    ///
    /// # Safety
    /// Nobody changes a Dict while they are in use, so no code of users may run.
    #[inline]
    pub(super) unsafe fn entry_refs(self, place: u64) -> Option<(&'a Any, &'a Any)> {
        match self {
            Self::Map(map) => map.entry_refs(place),
            // SAFETY: the caller's promise.
            Self::Dict(dict) => unsafe { dict.entry_refs(place) },
        }
    }
}
