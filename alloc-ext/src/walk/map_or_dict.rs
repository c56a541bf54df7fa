//! Common access to the entries of Maps and Dicts, by slot index.

use ferrite_core::object::ObjectRef;
use ferrite_core::value::any::Any;

use crate::containers::{DictObject, MapObject};

/// A Map or Dict. A Dict must be borrowed during calls of methods other than `len`.
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

    /// Returns the number of entries.
    pub(super) fn len(self) -> usize {
        match self {
            Self::Map(map) => map.len(),
            Self::Dict(dict) => dict.len(),
        }
    }

    /// Returns the slot index of the first entry in insertion order; `None` if the map is empty.
    ///
    /// # Safety
    /// The caller must have a Dict borrowed.
    pub(super) unsafe fn first_slot(self) -> Option<u64> {
        match self {
            Self::Map(map) => map.first_slot(),
            // SAFETY: guaranteed by the caller.
            Self::Dict(dict) => unsafe { dict.first_borrowed() },
        }
    }

    /// Returns the slot index of the entry after the one at `place` in insertion order; `None` at
    /// the end.
    ///
    /// # Safety
    /// The caller must have a Dict borrowed.
    #[inline]
    pub(super) unsafe fn next_slot(self, place: u64) -> Option<u64> {
        match self {
            Self::Map(map) => map.next_slot(place),
            // SAFETY: guaranteed by the caller.
            Self::Dict(dict) => unsafe { dict.next_borrowed(place) },
        }
    }

    /// Borrows the key and value at a slot index; `None` if the slot is empty.
    ///
    /// # Safety
    /// The caller must have a Dict borrowed while the references are in use.
    #[inline]
    pub(super) unsafe fn entry_refs(self, place: u64) -> Option<(&'a Any, &'a Any)> {
        match self {
            Self::Map(map) => map.entry_refs(place),
            // SAFETY: guaranteed by the caller.
            Self::Dict(dict) => unsafe { dict.entry_refs(place) },
        }
    }
}
