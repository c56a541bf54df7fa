//! Iteration over the entries of a Map. Since a borrowed Map does not change, its layout and each
//! entry are looked up only once.

use ferrite_core::value::any::Any;

use super::entry::Entry;
use super::layout::NO_SLOT;
use super::view::Table;

/// Cursor over a Map: at an entry, or past the end.
#[derive(Clone, Copy)]
pub(crate) struct MapCursor<'a> {
    table: Table<'a>,
    slot: usize,
    entry: Option<Entry>,
}

// SAFETY: `table` and `entry` are pointers into a table that nobody changes for `'a` (contract of
// `first`), and all that is done with them is to read it, as a shared reference to the Map may do
// on any thread.
unsafe impl Send for MapCursor<'_> {}
// SAFETY: as for Send.
unsafe impl Sync for MapCursor<'_> {}

impl<'a> MapCursor<'a> {
    /// Creates a cursor at the first entry of a table.
    ///
    /// # Safety
    /// The table must not change for `'a`.
    #[inline]
    pub(crate) unsafe fn first(table: Table<'a>) -> Self {
        Self::at(table, table.head())
    }

    #[inline]
    fn at(table: Table<'a>, slot: usize) -> Self {
        Self { table, slot, entry: table.entry(slot) }
    }

    /// Returns a reference to the key and value at the cursor; `None` past the end.
    #[inline]
    pub(crate) fn entry(&self) -> Option<&'a [Any; 2]> {
        // SAFETY: the entry is in the table, which does not change, as the caller of `first`
        // guarantees.
        self.entry.map(|entry| unsafe { entry.pair() })
    }

    /// Returns the slot of the entry at the cursor; `None` past the end.
    #[cfg(feature = "speed")]
    #[inline]
    pub(crate) fn slot(&self) -> Option<u64> {
        self.entry.map(|_| self.slot as u64)
    }

    /// Advances to the next entry. Does nothing past the end.
    #[inline]
    pub(crate) fn advance(&mut self) {
        let next = match self.entry {
            // SAFETY: there is an entry in the slot.
            Some(_) => unsafe { self.table.slot_after(self.slot) },
            None => NO_SLOT,
        };
        *self = Self::at(self.table, next);
    }
}

#[cfg(all(test, feature = "speed"))]
mod tests {
    use ferrite_core::value::any::AnyView;

    use crate::containers::{MapEntries, MapIter, MapObject};

    /// Compiles only if iterators may be sent to and shared with other threads.
    const _: fn() = || {
        fn is_shared<T: Send + Sync>() {}
        is_shared::<(MapEntries<'_>, MapIter<'_, i64, i64>)>();
    };

    #[test]
    fn both_layouts_are_walked_in_order() {
        for len in [0, 1, 4, 5, 100] {
            let mut map = MapObject::with_capacity(0).expect("a map");
            for key in 0..len {
                map.insert((len - key).into(), key.into()).expect("an entry");
            }
            map.remove(AnyView::from(len)).expect("an entry less");
            let mut cursor = map.cursor();
            for value in 1..len {
                let entry = cursor.entry().expect("an entry");
                assert_eq!(
                    entry.each_ref().map(|part| part.get::<i64>().ok()),
                    [len - value, value].map(Some)
                );
                let slot = cursor.slot().expect("a slot");
                assert!(map.entry_pair(slot).is_some_and(|there| core::ptr::eq(there, entry)));
                cursor.advance();
            }
            for _ in 0..2 {
                assert!(cursor.entry().is_none() && cursor.slot().is_none());
                cursor.advance();
            }
        }
    }
}
