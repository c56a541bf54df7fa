//! Table of the values that already have a node.
#![forbid(unsafe_code)]

use core::mem;

use ferrite_core::any::Any;
use ferrite_core::error::{self, Error, Result};
use ferrite_core::memory::Buffer;
use ferrite_core::text::Lossy;
use ferrite_core::words::GOLDEN_RATIO;
use ferrite_core::{plain_error, type_index, type_table};

use crate::containers::key;

/// Node indices by value: a hash table whose keys compare like keys of a Map.
#[derive(Default)]
pub(super) struct Numbers {
    entries: Buffer<Entry>,
    /// Open addressing with linear probing. The load factor is at most one half.
    slots: Buffer<Slot>,
    count: i64,
}

struct Entry {
    value: Any,
    /// Node index, or [`OPEN`] while the children of the object are encoded.
    number: i64,
}

/// Stands for an index that is not known yet.
const OPEN: i64 = -1;

/// Index of an entry with part of its hash, so that most other values are ruled out without reading them.
#[derive(Clone, Copy, Default)]
struct Slot {
    tag: u32,
    /// Index in `entries` plus 1; 0 for an empty slot.
    place: u32,
}

/// Outcome of a lookup.
pub(super) enum Found {
    /// The node index of the value.
    Number(i64),
    /// The value has no node. Carries its hash, for [`Numbers::open`].
    Vacant(u64),
}

/// Entry of a value that has no index yet.
#[derive(Clone, Copy)]
pub(super) struct Opened(usize);

/// Number of slots of the first table.
const FIRST_SLOTS: usize = 16;

impl Numbers {
    /// Looks up a value.
    ///
    /// # Errors
    /// ValueError for an object inside itself; errors of key hooks.
    pub(super) fn find(&self, value: &Any) -> Result<Found> {
        let hash = key::hash(&value.view())?;
        let tag = tag(hash);
        for slot in self.slots_of(tag) {
            let slot = self.slots.get(slot).copied().unwrap_or_default();
            if slot.place != 0 && slot.tag != tag {
                continue;
            }
            let Some(entry) = self.entry_in(slot) else { break };
            if !key::equal(entry.value.view(), value.view())? {
                continue;
            }
            match entry.number {
                OPEN if entry.value.view().object_ptr() == value.view().object_ptr() => {
                    return Err(self.cycle(value));
                }
                // A different object, equal by a hook to one that contains it.
                OPEN => {}
                number => return Ok(Found::Number(number)),
            }
        }
        Ok(Found::Vacant(hash))
    }

    /// Inserts a value that was not found.
    ///
    /// # Errors
    /// MemoryError.
    pub(super) fn open(&mut self, value: Any, hash: u64) -> Result<Opened> {
        if self.entries.len() == u32::MAX as usize {
            return Err(error::out_of_memory(usize::MAX));
        }
        if 2 * (self.entries.len() + 1) > self.slots.len() {
            self.grow()?;
        }
        self.entries.try_push(Entry { value, number: OPEN })?;
        self.link(Slot { tag: tag(hash), place: self.entries.len() as u32 });
        Ok(Opened(self.entries.len() - 1))
    }

    /// Assigns the next index to a value.
    pub(super) fn close(&mut self, opened: Opened) -> i64 {
        let number = self.count;
        self.count += 1;
        if let Some(entry) = self.entries.get_mut(opened.0) {
            entry.number = number;
        }
        number
    }

    fn grow(&mut self) -> Result<()> {
        let mut slots = Buffer::new();
        slots.try_resize((2 * self.slots.len()).max(FIRST_SLOTS), Slot::default())?;
        let old = mem::replace(&mut self.slots, slots);
        old.iter().filter(|slot| slot.place != 0).for_each(|slot| self.link(*slot));
        Ok(())
    }

    /// Inserts a slot at the first free position of its probe sequence.
    fn link(&mut self, slot: Slot) {
        let is_free = |at: &usize| self.slots.get(*at).is_some_and(|slot| slot.place == 0);
        let free = self.slots_of(slot.tag).find(is_free);
        if let Some(place) = free.and_then(|at| self.slots.get_mut(at)) {
            *place = slot;
        }
    }

    /// Returns the probe sequence of a tag. The number of slots is a power of two, and some are empty.
    fn slots_of(&self, tag: u32) -> impl Iterator<Item = usize> + use<> {
        let len = self.slots.len();
        let first = tag as usize;
        (0..len).map(move |step| first.wrapping_add(step) & (len - 1))
    }

    fn entry_in(&self, slot: Slot) -> Option<&Entry> {
        self.entries.get((slot.place as usize).checked_sub(1)?)
    }

    /// Creates the error for an object inside itself.
    ///
    /// Names the same container as upstream: the first mutable one in the cycle, since upstream tracks only those.
    fn cycle(&self, again: &Any) -> Error {
        let open = self.entries.iter().filter(|entry| entry.number == OPEN);
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

/// Returns the upper half of the scrambled hash, whose lower bits select the first slot.
fn tag(hash: u64) -> u32 {
    (hash.wrapping_mul(GOLDEN_RATIO) >> 32) as u32
}
