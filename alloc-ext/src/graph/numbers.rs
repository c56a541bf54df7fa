//! Which values have a node already, and which.
#![forbid(unsafe_code)]

use ferrite_core::any::Any;
use ferrite_core::error::{Error, Result};
use ferrite_core::memory::Buffer;
use ferrite_core::text::Lossy;
use ferrite_core::{plain_error, type_index, type_table};

use crate::containers::key;

/// The numbers of the nodes so far: a hash table of values that are equal as keys of a Map are.
#[derive(Default)]
pub(super) struct Numbers {
    entries: Buffer<Entry>,
    /// Places in `entries`, counted from 1, at or behind the place of their hash; at most half of the slots are in use.
    slots: Buffer<usize>,
    count: i64,
}

struct Entry {
    value: Any,
    hash: u64,
    /// None while the children of an object are numbered.
    number: Option<i64>,
}

/// What is known of a value.
pub(super) enum Found {
    /// It has a node.
    Number(i64),
    /// It has none yet; [`Numbers::open`] takes this.
    Vacant(u64),
}

/// A value that was given a place in the table, but no number.
#[derive(Clone, Copy)]
pub(super) struct Opened(usize);

/// Slots of the first table.
const FIRST_SLOTS: usize = 16;

impl Numbers {
    /// Looks for a value.
    ///
    /// # Errors
    ///
    /// ValueError for an object inside itself; those of key hooks.
    pub(super) fn find(&self, value: &Any) -> Result<Found> {
        let hash = key::hash(&value.view())?;
        let mut slots = self.slots_of(hash);
        while let Some(entry) = slots.next().and_then(|slot| self.entry_in(slot)) {
            if entry.hash != hash || !key::equal(entry.value.view(), value.view())? {
                continue;
            }
            match entry.number {
                Some(number) => return Ok(Found::Number(number)),
                None if entry.value.view().object_ptr() == value.view().object_ptr() => {
                    return Err(self.cycle(value));
                }
                // Equal by a hook to what it is in.
                None => {}
            }
        }
        Ok(Found::Vacant(hash))
    }

    /// Takes in a value that was not found.
    ///
    /// # Errors
    ///
    /// MemoryError.
    pub(super) fn open(&mut self, value: Any, hash: u64) -> Result<Opened> {
        if 2 * (self.entries.len() + 1) > self.slots.len() {
            self.grow()?;
        }
        self.entries.try_push(Entry { value, hash, number: None })?;
        self.link(self.entries.len() - 1);
        Ok(Opened(self.entries.len() - 1))
    }

    /// Gives a value the next number.
    pub(super) fn close(&mut self, opened: Opened) -> i64 {
        let number = self.count;
        self.count += 1;
        if let Some(entry) = self.entries.get_mut(opened.0) {
            entry.number = Some(number);
        }
        number
    }

    fn grow(&mut self) -> Result<()> {
        let mut slots = Buffer::new();
        slots.try_resize((2 * self.slots.len()).max(FIRST_SLOTS), 0)?;
        self.slots = slots;
        (0..self.entries.len()).for_each(|place| self.link(place));
        Ok(())
    }

    /// Puts the place of an entry into the slot where it belongs.
    fn link(&mut self, place: usize) {
        let Some(hash) = self.entries.get(place).map(|entry| entry.hash) else { return };
        let free = self.slots_of(hash).find(|slot| self.slots.get(*slot) == Some(&0));
        if let Some(slot) = free.and_then(|slot| self.slots.get_mut(slot)) {
            *slot = place + 1;
        }
    }

    /// The slots where values of a hash may be, the first choice first. Their number is a power of two, some are empty.
    fn slots_of(&self, hash: u64) -> impl Iterator<Item = usize> + use<> {
        let len = self.slots.len();
        // Fibonacci hashing: the constant is 2^64 over the golden ratio.
        let first = (hash.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize;
        (0..len).map(move |step| first.wrapping_add(step) & (len - 1))
    }

    fn entry_in(&self, slot: usize) -> Option<&Entry> {
        self.entries.get(self.slots.get(slot)?.checked_sub(1)?)
    }

    /// The error for an object that is met again inside itself.
    ///
    /// It names what upstream would: of the containers in the cycle, the first that is changed in place, since only those
    /// are watched there.
    fn cycle(&self, again: &Any) -> Error {
        let open = self.entries.iter().filter(|entry| entry.number.is_none());
        let mut ring = open.skip_while(|entry| entry.value.view().object_ptr() != again.view().object_ptr());
        let is_watched =
            |entry: &&Entry| matches!(entry.value.type_index(), type_index::LIST | type_index::DICT);
        let what = match ring.find(is_watched).map_or(again.type_index(), |entry| entry.value.type_index()) {
            type_index::LIST => Lossy(b"List"),
            type_index::DICT => Lossy(b"Dict"),
            other => Lossy(type_table::type_key_of(other)),
        };
        plain_error!(VALUE_ERROR, "Cycle detected during serialization: a {} contains itself", what)
    }
}
