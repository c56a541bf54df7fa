//! Random access to the entries of Maps and Dicts by slot index, for walks that visit them in sorted order.

use ferrite_core::any::Any;
use ferrite_core::object::ObjectRef;

use super::map_or_dict::MapOrDict;
use super::maybe_owned::MaybeOwned;
use crate::containers::MapObject;

/// Entries of a Map or Dict, addressed by slot index.
pub enum MapSlots<'w> {
    /// A borrowed Map, which cannot change during the walk.
    Borrowed(&'w MapObject),
    /// Any other map, kept alive by a reference.
    Of(MaybeOwned<'w, ObjectRef>),
}

impl<'w> MapSlots<'w> {
    /// Creates access to the entries of a Map or Dict. Any other object has no entries.
    pub fn of(map: MaybeOwned<'w, ObjectRef>) -> Self {
        match map.borrowed().and_then(ObjectRef::as_class) {
            Some(map) => Self::Borrowed(map),
            None => Self::Of(map),
        }
    }

    /// Returns the number of entries.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Borrowed(map) => map.len(),
            Self::Of(map) => MapOrDict::of(map).map_or(0, MapOrDict::len),
        }
    }

    /// Returns the slot index of the first entry in insertion order; `None` if the map is empty.
    pub fn first(&self) -> Option<u64> {
        self.map()?.first_slot()
    }

    /// Returns the slot index of the entry after the one at `place` in insertion order; `None` at the end.
    pub fn after(&self, place: u64) -> Option<u64> {
        self.map()?.next_slot(place)
    }

    fn map(&self) -> Option<MapOrDict<'_>> {
        match self {
            Self::Borrowed(map) => Some(MapOrDict::Map(map)),
            Self::Of(map) => MapOrDict::of(map),
        }
    }

    /// Borrows the key and value at a slot index; `None` if the slot is empty.
    ///
    /// # Safety
    /// A Dict must not change while the references are in use; in particular, no user callback may run.
    pub unsafe fn peek(&self, place: u64) -> Option<(&Any, &Any)> {
        // SAFETY: guaranteed by the caller.
        unsafe { self.map()?.entry_refs(place) }
    }

    /// Returns the value at a slot index; `None` if the slot is empty. Borrowed if the map is a borrowed Map.
    pub fn value(&self, place: u64) -> Option<MaybeOwned<'w>> {
        if let Self::Borrowed(map) = self {
            return map.entry_refs(place).map(|(_, value)| MaybeOwned::Borrowed(value));
        }
        // SAFETY: no user callback runs while the reference is taken.
        unsafe { self.peek(place) }.map(|(_, value)| MaybeOwned::Owned(value.clone()))
    }
}
