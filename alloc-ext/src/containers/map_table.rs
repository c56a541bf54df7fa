//! The table of a Map or Dict, in whichever of its two layouts.

use core::mem;

use ferrite_core::abi::TVMFFIObject;
use ferrite_core::any::{Any, AnyView};
use ferrite_core::error::Result;
use ferrite_core::object::ObjectRef;

use super::cell;
use super::key;
use super::map_ahead::AHEAD;
use super::map_base::{NO_SLOT, SMALL_TAG, fields_of};
use super::map_dense::Dense;
use super::map_entry::Entry;
use super::map_small::Small;

/// Where a key goes in a table.
pub(super) enum Room {
    /// Its entry is there.
    Known(Entry),
    /// The cells of a new entry, which are to be filled before anything else happens.
    New(Entry),
}

impl Room {
    /// Puts key and value there; releases what was there.
    ///
    /// # Safety
    /// The room has just been found, and nobody else uses the table now.
    #[inline]
    pub(super) unsafe fn fill(self, key: Any, value: Any) {
        // SAFETY: the cells of a known entry are initialised, those of a new one may be written. What is released finds the
        // table whole.
        unsafe {
            match self {
                Room::Known(entry) => drop((key, entry.replace_value(value))),
                Room::New(entry) => entry.write(key, value),
            }
        }
    }
}

/// A table while its object is borrowed, in one of the two layouts.
///
/// As for sequences, no Rust reference outlives a call, and one thread at a time may change a table.
/// Key hooks are foreign code that may even change this table: whoever calls one looks at the table anew afterwards.
#[derive(Clone, Copy)]
pub(super) enum Table<'a> {
    Small(Small<'a>),
    Dense(Dense<'a>),
}

impl<'a> Table<'a> {
    /// Looks at `object` as a table, in the layout that it has now.
    ///
    /// # Safety
    /// `object` is a Map or a Dict.
    #[inline]
    pub(super) unsafe fn of(object: &'a ObjectRef) -> Self {
        // SAFETY: the caller vouches for the class, the borrow for the life.
        unsafe { Self::at(object.as_ptr()) }
    }

    /// # Safety
    /// `object` is a Map or a Dict that lives for `'a`.
    #[inline]
    pub(super) unsafe fn at(object: *mut TVMFFIObject) -> Self {
        // SAFETY: the caller vouches for the object.
        unsafe {
            let fields = fields_of(object);
            if (*fields).slots & SMALL_TAG != 0 {
                Self::Small(Small::at(fields))
            } else {
                Self::Dense(Dense::at(fields))
            }
        }
    }

    /// Number of entries.
    #[inline]
    pub(super) fn len(self) -> usize {
        match self {
            Self::Small(table) => table.len(),
            Self::Dense(table) => table.len(),
        }
    }

    /// Place of the entry of `key`; [`NO_SLOT`], where no entry is, when there is none: the result then travels in registers.
    ///
    /// # Errors
    /// What key hooks raise; RuntimeError when one changed the table.
    pub(super) fn find(self, key: &AnyView<'_>) -> Result<usize> {
        match self {
            Self::Small(table) => table.find(key),
            Self::Dense(table) if table.len() == 0 => Ok(NO_SLOT),
            Self::Dense(table) => table.find(key, key::hash(key)?),
        }
    }

    /// Cells of the entry of `key`, which is in a form that owned values have.
    ///
    /// # Errors
    /// As [`find`](Self::find).
    #[inline]
    pub(super) fn find_entry(self, key: &AnyView<'_>) -> Result<Option<Entry>> {
        let place = self.find(key)?;
        if place == NO_SLOT {
            return Ok(None);
        }
        // SAFETY: that is the place of an entry.
        Ok(Some(unsafe {
            match self {
                Self::Small(table) => table.cells_at(place),
                Self::Dense(table) => table.cells(place),
            }
        }))
    }

    /// As [`find_entry`](Self::find_entry), of a key in any form: raw strings and the like are never stored.
    ///
    /// # Errors
    /// As there; those of [`AnyView::to_owned`].
    #[inline]
    pub(super) fn find_entry_of_any(self, key: &AnyView<'_>) -> Result<Option<Entry>> {
        if cell::is_borrowed_form(key) {
            return self.find_entry(&key.to_owned()?.view());
        }
        self.find_entry(key)
    }

    /// Cells of the entry at a place, or None when there is no entry any more.
    #[inline]
    pub(super) fn entry(self, place: usize) -> Option<Entry> {
        match self {
            Self::Small(table) => table.entry(place),
            Self::Dense(table) => table.entry(place),
        }
    }

    /// Where the first entry in order is, if there is one.
    #[inline]
    pub(super) fn head(self) -> usize {
        match self {
            Self::Small(_) => 0,
            Self::Dense(table) => table.first_slot(),
        }
    }

    /// Where the entry after the one at `place` is, if there is one.
    ///
    /// # Safety
    /// There is an entry at `place`.
    #[inline]
    pub(super) unsafe fn place_after(self, place: usize) -> usize {
        match self {
            Self::Small(_) => place + 1,
            // SAFETY: passed on.
            Self::Dense(table) => unsafe { table.slot_after(place) },
        }
    }

    /// Place of the first entry in order.
    pub(super) fn first(self) -> Option<usize> {
        let place = self.head();
        self.entry(place).map(|_| place)
    }

    /// Place of the entry after the one at `place` in order.
    #[inline]
    pub(super) fn next(self, place: usize) -> Option<usize> {
        self.entry(place)?;
        // SAFETY: there is an entry.
        let next = unsafe { self.place_after(place) };
        self.entry(next).map(|_| next)
    }

    /// The entry at `place`, if there is one, for a walk that goes on to the next some calls later.
    #[inline]
    pub(super) fn entry_before_next(self, place: usize) -> Option<Entry> {
        let entry = self.entry(place)?;
        if let Self::Dense(table) = self {
            // SAFETY: there is an entry.
            unsafe { table.prefetch_after(place) }
        }
        Some(entry)
    }

    /// The entries in order; those that come or go meanwhile may or may not be seen.
    pub(super) fn entries(self) -> impl Iterator<Item = Entry> {
        let mut next = self.first();
        core::iter::from_fn(move || {
            let place = next?;
            let entry = self.entry(place)?;
            next = self.next(place);
            Some(entry)
        })
    }

    /// Where a key goes, a new one at the end; None when the table must grow first.
    ///
    /// # Errors
    /// What key hooks raise. The table is unchanged then.
    ///
    /// # Safety
    /// Nobody else uses the table now; key hooks may.
    pub(super) unsafe fn room(self, key: &AnyView<'_>) -> Result<Option<Room>> {
        // SAFETY: the caller excludes other users.
        unsafe {
            match self {
                Self::Small(table) => table.room(key),
                Self::Dense(table) => {
                    let hash = key::hash(key)?;
                    if !key::is_its_words(key) {
                        table.prefetch_home(hash);
                    }
                    table.room(key, hash)
                }
            }
        }
    }

    /// Takes the entry at `place` out, if one is there, and answers its value.
    ///
    /// # Safety
    /// Nobody else uses the table now.
    pub(super) unsafe fn remove(self, place: usize) -> Option<Any> {
        // SAFETY: the caller excludes other users; the cells are given up. The release of the key finds the table whole.
        unsafe {
            let (key, value) = self.entry(place)?.take();
            match self {
                Self::Small(table) => table.close_gap(place),
                Self::Dense(table) => table.vacate(place),
            }
            drop(key);
            Some(value)
        }
    }

    /// Number of places where entries may be: those of the dense layout need not be linked, while C++ code clears it.
    fn places(self) -> usize {
        match self {
            Self::Small(table) => table.len(),
            Self::Dense(table) => table.slots(),
        }
    }

    /// Counts the references of all entries, which are copies of the words of others.
    ///
    /// # Safety
    /// The others are alive.
    pub(super) unsafe fn count_entries(self) {
        for entry in (0..self.places()).filter_map(|place| self.entry(place)) {
            // SAFETY: the caller vouches for the values; the references are the table's.
            mem::forget(unsafe { entry.copy() });
        }
    }

    /// Releases the storage without its entries, which have moved elsewhere; the table is empty without room.
    ///
    /// # Safety
    /// Nobody else uses the table now.
    pub(super) unsafe fn forget_entries(self) {
        // SAFETY: the caller excludes other users.
        unsafe {
            match self {
                Self::Small(table) => table.forget_entries(),
                Self::Dense(table) => table.forget_entries(),
            }
        }
    }

    /// Releases entries and storage.
    ///
    /// # Safety
    /// Nobody uses the table any more.
    pub(super) unsafe fn destroy(self) {
        if let Self::Dense(table) = self {
            table.prefetch();
        }
        for place in 0..self.places() {
            if let Self::Dense(table) = self {
                table.prefetch_objects(place + AHEAD);
            }
            if let Some(entry) = self.entry(place) {
                // SAFETY: each entry is taken once, as the table ends.
                drop(unsafe { entry.take() });
            }
        }
        // SAFETY: the entries are gone; the caller excludes other users.
        unsafe { self.forget_entries() }
    }
}
