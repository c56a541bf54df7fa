//! Maps and Dicts whose entries a walk reads by their places, in an order of its own.

use ferrite_core::any::Any;
use ferrite_core::object::ObjectRef;

use super::map_or_dict::MapOrDict;
use super::maybe_owned::MaybeOwned;
use crate::containers::MapObject;

/// The entries of a map by their places.
pub enum MapSlots<'w> {
    /// Those of a Map that is lent: they stay where they are.
    Borrowed(&'w MapObject),
    /// Those of any other map.
    Of(MaybeOwned<'w, ObjectRef>),
}

impl<'w> MapSlots<'w> {
    /// Those of a Map or Dict; none for other objects.
    pub fn of(map: MaybeOwned<'w, ObjectRef>) -> Self {
        match map.borrowed().and_then(ObjectRef::as_class) {
            Some(map) => Self::Borrowed(map),
            None => Self::Of(map),
        }
    }

    /// Number of entries.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Borrowed(map) => map.len(),
            Self::Of(map) => MapOrDict::of(map).map_or(0, MapOrDict::len),
        }
    }

    /// The place of the first entry in order.
    pub fn first(&self) -> Option<u64> {
        self.map()?.first_slot()
    }

    /// The place of the entry after the one at `place`.
    pub fn after(&self, place: u64) -> Option<u64> {
        self.map()?.next_slot(place)
    }

    fn map(&self) -> Option<MapOrDict<'_>> {
        match self {
            Self::Borrowed(map) => Some(MapOrDict::Map(map)),
            Self::Of(map) => MapOrDict::of(map),
        }
    }

    /// Key and value at a place, if an entry is there, as they lie in memory.
    ///
    /// # Safety
    /// Nobody changes a Dict while they are in use, so no code of users may run.
    pub unsafe fn peek(&self, place: u64) -> Option<(&Any, &Any)> {
        // SAFETY: the caller's promise.
        unsafe { self.map()?.entry_refs(place) }
    }

    /// The value at a place, if an entry is there, lent where the map is a lent Map.
    pub fn value(&self, place: u64) -> Option<MaybeOwned<'w>> {
        if let Self::Borrowed(map) = self {
            return map.entry_refs(place).map(|(_, value)| MaybeOwned::Borrowed(value));
        }
        // SAFETY: no code of users runs while the reference is made.
        unsafe { self.peek(place) }.map(|(_, value)| MaybeOwned::Owned(value.clone()))
    }
}
