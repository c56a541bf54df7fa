//! Random access to the entries of Maps and Dicts by slot index, for walks that visit them in
//! sorted order.

use ferrite_core::error::Result;
use ferrite_core::object::ObjectRef;
use ferrite_core::object::borrow::Shared;
use ferrite_core::value::any::Any;

use super::map_or_dict::MapOrDict;
use super::maybe_owned::MaybeOwned;
use crate::containers::{self, MapObject};

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

    /// Borrows a Dict; `None` for a Map.
    ///
    /// # Errors
    /// RuntimeError if another thread is changing the Dict.
    pub fn borrow(&self) -> Result<Option<Shared<&ObjectRef>>> {
        match self {
            Self::Borrowed(_) => Ok(None),
            Self::Of(map) => containers::borrow(map),
        }
    }

    /// Calls `each` with the slot index, key and value of all entries in insertion order. A Dict is
    /// borrowed meanwhile.
    ///
    /// # Errors
    /// Errors of `each`; RuntimeError if another thread is changing the Dict.
    pub fn for_each(&self, mut each: impl FnMut(u64, &Any, &Any) -> Result<()>) -> Result<()> {
        let _borrow = self.borrow()?;
        let Some(map) = self.map() else { return Ok(()) };
        // SAFETY: just borrowed.
        unsafe {
            let mut next = map.first_slot();
            while let Some(place) = next {
                if let Some((key, value)) = map.entry_refs(place) {
                    each(place, key, value)?;
                }
                next = map.next_slot(place);
            }
        }
        Ok(())
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
    /// The caller must have the map [borrowed](Self::borrow) while the references are in use.
    pub unsafe fn peek(&self, place: u64) -> Option<(&Any, &Any)> {
        // SAFETY: guaranteed by the caller.
        unsafe { self.map()?.entry_refs(place) }
    }

    /// Returns the value at a slot index; `None` if the slot is empty. Borrowed if the map is a
    /// borrowed Map.
    ///
    /// # Safety
    /// The caller must have the map [borrowed](Self::borrow).
    pub unsafe fn value(&self, place: u64) -> Option<MaybeOwned<'w>> {
        if let Self::Borrowed(map) = self {
            return map.entry_refs(place).map(|(_, value)| MaybeOwned::Borrowed(value));
        }
        // SAFETY: guaranteed by the caller.
        unsafe { self.peek(place) }.map(|(_, value)| MaybeOwned::Owned(value.clone()))
    }
}
