//! Maps and Dicts behind one interface, read in place while a walk holds them.

use ferrite_core::any::{Any, AnyView};
use ferrite_core::error::Result;
use ferrite_core::object::ObjectRef;

use super::map_or_dict::MapOrDict;
use super::maybe_owned::{MaybeOwned, same_number_or_text};
use super::prefetch::prefetch_next;
use crate::containers::{MapCursor, MapObject};

/// The entries of a map, from the next one on.
///
/// The walk ends early when a hook takes entries out of a Dict, and sees no more of them than there were in the
/// beginning.
pub struct Entries<'w> {
    source: Source<'w>,
}

enum Source<'w> {
    /// A Map that is lent: its entries stay where they are.
    Borrowed(&'w MapObject, MapCursor<'w>),
    Other(OtherMap<'w>),
}

/// The entries of a map that may be a Dict, each looked for when it is asked for.
struct OtherMap<'w> {
    map: MaybeOwned<'w, ObjectRef>,
    next: Option<u64>,
    left: usize,
}

impl<'w> OtherMap<'w> {
    fn of(map: MaybeOwned<'w, ObjectRef>) -> Self {
        let mut other = Self { map, next: None, left: 0 };
        other.restart();
        other
    }

    fn restart(&mut self) {
        let map = MapOrDict::of(&self.map);
        (self.next, self.left) = map.map_or((None, 0), |map| (map.first_slot(), map.len()));
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

    /// # Safety
    /// As [`Entries::peek`].
    #[inline]
    unsafe fn at(&self, place: u64) -> Option<(&Any, &Any)> {
        // SAFETY: the caller's promise.
        unsafe { MapOrDict::of(&self.map)?.entry_refs(place) }
    }

    #[inline]
    fn advance(&mut self) {
        self.left = self.left.saturating_sub(1);
        self.next = self.next.and_then(|place| MapOrDict::of(&self.map)?.next_slot(place));
    }
}

impl<'w> Entries<'w> {
    /// Those of a Map or Dict; none for other objects.
    pub fn of(map: MaybeOwned<'w, ObjectRef>) -> Self {
        let source = match map.borrowed().and_then(ObjectRef::as_class::<MapObject>) {
            Some(map) => Source::Borrowed(map, map.cursor()),
            None => Source::Other(OtherMap::of(map)),
        };
        Self { source }
    }

    /// Goes back to the first entry.
    pub fn restart(&mut self) {
        match &mut self.source {
            Source::Borrowed(map, next) => *next = map.cursor(),
            Source::Other(other) => other.restart(),
        }
    }

    /// Number of entries of the whole map.
    pub(crate) fn len(&self) -> usize {
        match &self.source {
            Source::Borrowed(map, _) => map.len(),
            Source::Other(other) => other.len(),
        }
    }

    /// The value of a key, lent where the map is a lent Map.
    ///
    /// # Errors
    /// Those of key hooks.
    pub fn value_of(&self, key: AnyView<'_>) -> Result<Option<MaybeOwned<'w>>> {
        match &self.source {
            Source::Borrowed(map, _) => Ok(map.get(key)?.map(MaybeOwned::Borrowed)),
            Source::Other(other) => Ok(other.value_of(key)?.map(MaybeOwned::Owned)),
        }
    }

    /// The value of a key, which need not be searched where it is that of the next entry.
    ///
    /// # Errors
    /// Those of key hooks.
    pub fn find_next(&mut self, key: &Any) -> Result<Option<MaybeOwned<'w>>> {
        // SAFETY: comparing numbers and texts runs no code of users.
        if unsafe { self.peek() }.is_some_and(|(next, _)| same_number_or_text(key, next)) {
            return Ok(self.next().map(|(_, value)| value));
        }
        self.value_of(key.view())
    }

    /// Skips entries that are next on both sides, with the same number or text as their keys, as long as their values are
    /// equal: most are.
    ///
    /// # Errors
    /// Those of `are_equal`.
    ///
    /// # Safety
    /// `are_equal` runs no code of users, which might change a Dict.
    #[inline]
    pub unsafe fn skip_equal(
        &mut self,
        other: &mut Entries<'_>,
        are_equal: impl Fn(&Any, &Any) -> Result<bool>,
    ) -> Result<()> {
        // SAFETY: comparing numbers and texts runs no code of users either.
        while let (Some((left, lhs)), Some((right, rhs))) = unsafe { (self.peek(), other.peek()) }
            && same_number_or_text(left, right)
            && are_equal(lhs, rhs)?
        {
            prefetch_next(left);
            prefetch_next(right);
            self.advance();
            other.advance();
        }
        Ok(())
    }

    /// Key and value of the next entry as they lie in memory.
    ///
    /// # Safety
    /// Nobody changes a Dict while they are in use, so no code of users may run.
    #[inline]
    pub unsafe fn peek(&self) -> Option<(&Any, &Any)> {
        match &self.source {
            Source::Borrowed(_, next) => next.entry().map(|[key, value]| (key, value)),
            // SAFETY: the caller's promise.
            Source::Other(other) => unsafe { other.at(other.place()?) },
        }
    }

    /// Goes on to the entry after the next one.
    #[inline]
    pub fn advance(&mut self) {
        match &mut self.source {
            Source::Borrowed(_, next) => next.advance(),
            Source::Other(other) => other.advance(),
        }
    }
}

/// The keys and values, lent where the map is a lent Map.
impl<'w> Iterator for Entries<'w> {
    type Item = (MaybeOwned<'w>, MaybeOwned<'w>);

    fn next(&mut self) -> Option<Self::Item> {
        let entry = match &self.source {
            Source::Borrowed(_, next) => {
                next.entry().map(|[key, value]| (MaybeOwned::Borrowed(key), MaybeOwned::Borrowed(value)))
            }
            // SAFETY: no code of users runs while the references are made.
            Source::Other(other) => unsafe { other.at(other.place()?) }
                .map(|(key, value)| (MaybeOwned::Owned(key.clone()), MaybeOwned::Owned(value.clone()))),
        };
        self.advance();
        entry
    }
}
