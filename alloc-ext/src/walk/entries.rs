//! Common iterator over the entries of Maps and Dicts during a walk, in place.

use ferrite_core::error::Result;
use ferrite_core::object::ObjectRef;
use ferrite_core::object::borrow::Shared;
use ferrite_core::value::any::{Any, AnyView};

use super::map_or_dict::MapOrDict;
use super::maybe_owned::{MaybeOwned, same_number_or_text};
use super::prefetch::prefetch_next;
use crate::containers::{self, MapCursor, MapObject};

/// Iterator over the entries of a Map or Dict.
///
/// Hooks may change a Dict during the iteration. It ends early if they remove entries, and yields
/// at most as many entries as the Dict had at the start.
pub struct Entries<'w> {
    source: Source<'w>,
}

enum Source<'w> {
    /// A borrowed Map, which cannot change during the walk.
    Borrowed(&'w MapObject, MapCursor<'w>),
    Other(OtherMap<'w>),
}

/// Iterator over a Dict or an owned Map. Looks up each entry by its index, so that the map may
/// change in between. Borrows a Dict for each step.
struct OtherMap<'w> {
    map: MaybeOwned<'w, ObjectRef>,
    next: Option<u64>,
    left: usize,
}

impl<'w> OtherMap<'w> {
    fn of(map: MaybeOwned<'w, ObjectRef>) -> Result<Self> {
        let mut other = Self { map, next: None, left: 0 };
        other.restart()?;
        Ok(other)
    }

    fn restart(&mut self) -> Result<()> {
        let _borrow = containers::borrow(&*self.map)?;
        let map = MapOrDict::of(&self.map);
        // SAFETY: just borrowed.
        (self.next, self.left) =
            map.map_or((None, 0), |map| (unsafe { map.first_slot() }, map.len()));
        Ok(())
    }

    fn len(&self) -> usize {
        MapOrDict::of(&self.map).map_or(0, MapOrDict::len)
    }

    fn value_of(&self, key: AnyView<'_>) -> Result<Option<Any>> {
        match MapOrDict::of(&self.map) {
            Some(MapOrDict::Map(map)) => Ok(map.get(key)?.cloned()),
            Some(MapOrDict::Dict(dict)) => dict.get(key),
            None => Ok(None),
        }
    }

    #[inline]
    fn place(&self) -> Option<u64> {
        self.next.filter(|_| self.left > 0)
    }

    /// Borrows the key and value at a slot index; `None` if the slot is empty.
    ///
    /// # Safety
    /// Same requirements as [`Entries::peek`].
    #[inline]
    unsafe fn at(&self, place: u64) -> Option<(&Any, &Any)> {
        // SAFETY: guaranteed by the caller.
        unsafe { MapOrDict::of(&self.map)?.entry_refs(place) }
    }

    /// Advances by one entry.
    ///
    /// # Safety
    /// The caller must have a Dict borrowed.
    #[inline]
    unsafe fn advance(&mut self) {
        self.left = self.left.saturating_sub(1);
        // SAFETY: guaranteed by the caller.
        self.next =
            self.next.and_then(|place| unsafe { MapOrDict::of(&self.map)?.next_slot(place) });
    }

    /// Returns a copy of the next entry, and advances.
    fn step(&mut self) -> Result<Option<(Any, Any)>> {
        let Some(place) = self.place() else { return Ok(None) };
        let borrow = containers::borrow(&*self.map)?;
        // SAFETY: just borrowed.
        let (entry, next) = unsafe {
            let entry = self.at(place).map(|(key, value)| (key.clone(), value.clone()));
            (entry, MapOrDict::of(&self.map).and_then(|map| map.next_slot(place)))
        };
        drop(borrow);
        (self.next, self.left) = (next, self.left - 1);
        Ok(entry)
    }
}

impl<'w> Entries<'w> {
    /// Creates an iterator over the entries of a Map or Dict; empty for other objects.
    ///
    /// # Errors
    /// RuntimeError if another thread is changing a Dict.
    pub fn of(map: MaybeOwned<'w, ObjectRef>) -> Result<Self> {
        let source = match map.borrowed().and_then(ObjectRef::as_class::<MapObject>) {
            Some(map) => Source::Borrowed(map, map.cursor()),
            None => Source::Other(OtherMap::of(map)?),
        };
        Ok(Self { source })
    }

    /// Borrows a Dict; `None` for a Map. The guard has its own reference, so that the iterator may
    /// advance meanwhile.
    ///
    /// # Errors
    /// RuntimeError if another thread is changing the Dict.
    #[inline]
    fn borrow(&self) -> Result<Option<Shared<ObjectRef>>> {
        match &self.source {
            Source::Borrowed(..) => Ok(None),
            Source::Other(other) => containers::borrow(ObjectRef::clone(&other.map)),
        }
    }

    /// Resets the iterator to the first entry.
    ///
    /// # Errors
    /// RuntimeError if another thread is changing a Dict.
    pub fn restart(&mut self) -> Result<()> {
        match &mut self.source {
            Source::Borrowed(map, next) => *next = map.cursor(),
            Source::Other(other) => other.restart()?,
        }
        Ok(())
    }

    /// Returns the number of entries in the map, whether they were yielded or not.
    pub(crate) fn len(&self) -> usize {
        match &self.source {
            Source::Borrowed(map, _) => map.len(),
            Source::Other(other) => other.len(),
        }
    }

    /// Looks up the value of a key; `None` if the map lacks the key. Borrowed if the map is a
    /// borrowed Map.
    ///
    /// # Errors
    /// Errors of key hooks.
    pub fn value_of(&self, key: AnyView<'_>) -> Result<Option<MaybeOwned<'w>>> {
        match &self.source {
            Source::Borrowed(map, _) => Ok(map.get(key)?.map(MaybeOwned::Borrowed)),
            Source::Other(other) => Ok(other.value_of(key)?.map(MaybeOwned::Owned)),
        }
    }

    /// Looks up the value of a key. If the key is that of the next entry, advances past the entry,
    /// which is the fast path.
    ///
    /// # Errors
    /// Errors of key hooks.
    pub fn find_next(&mut self, key: &Any) -> Result<Option<MaybeOwned<'w>>> {
        let is_next = {
            let _borrow = self.borrow()?;
            // SAFETY: just borrowed; comparing numbers and strings runs no user callback.
            unsafe { self.peek() }.is_some_and(|(next, _)| same_number_or_text(key, next))
        };
        if is_next {
            return Ok(self.next().transpose()?.map(|(_, value)| value));
        }
        self.value_of(key.view())
    }

    /// Advances both iterators while their next entries have the same number or string as key and
    /// equal values. Skips most entries of equal maps.
    ///
    /// # Errors
    /// Errors of `are_equal`; RuntimeError if another thread is changing a Dict. Both Dicts are
    /// borrowed during the call.
    #[inline]
    pub fn skip_equal(
        &mut self,
        other: &mut Entries<'_>,
        are_equal: impl Fn(&Any, &Any) -> Result<bool>,
    ) -> Result<()> {
        let _borrows = (self.borrow()?, other.borrow()?);
        // SAFETY: just borrowed.
        while let (Some((left, lhs)), Some((right, rhs))) = unsafe { (self.peek(), other.peek()) }
            && same_number_or_text(left, right)
            && are_equal(lhs, rhs)?
        {
            prefetch_next(left);
            prefetch_next(right);
            // SAFETY: as above.
            unsafe {
                self.advance();
                other.advance();
            }
        }
        Ok(())
    }

    /// Returns the key and value of the next entry in place; `None` at the end.
    ///
    /// # Safety
    /// The caller must have a Dict borrowed while the references are in use.
    #[inline]
    unsafe fn peek(&self) -> Option<(&Any, &Any)> {
        match &self.source {
            Source::Borrowed(_, next) => next.entry().map(|[key, value]| (key, value)),
            // SAFETY: guaranteed by the caller.
            Source::Other(other) => unsafe { other.at(other.place()?) },
        }
    }

    /// Advances by one entry.
    ///
    /// # Safety
    /// The caller must have a Dict borrowed.
    #[inline]
    unsafe fn advance(&mut self) {
        match &mut self.source {
            Source::Borrowed(_, next) => next.advance(),
            // SAFETY: guaranteed by the caller.
            Source::Other(other) => unsafe { other.advance() },
        }
    }
}

/// Yields keys and values, borrowed if the map is a borrowed Map. A step is a RuntimeError while
/// another thread is changing a Dict.
impl<'w> Iterator for Entries<'w> {
    type Item = Result<(MaybeOwned<'w>, MaybeOwned<'w>)>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.source {
            Source::Borrowed(_, next) => {
                let [key, value] = next.entry()?;
                next.advance();
                Some(Ok((MaybeOwned::Borrowed(key), MaybeOwned::Borrowed(value))))
            }
            Source::Other(other) => {
                let entry = other.step().transpose()?;
                Some(entry.map(|(key, value)| (MaybeOwned::Owned(key), MaybeOwned::Owned(value))))
            }
        }
    }
}
