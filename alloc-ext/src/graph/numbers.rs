//! Table of node indices, by value.
#![forbid(unsafe_code)]

use ferrite_core::abi::type_index;
use ferrite_core::error::{Error, Result};
use ferrite_core::names::type_table;
use ferrite_core::plain_error;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::platform::text::Lossy;
use ferrite_core::platform::words::GOLDEN_RATIO;
use ferrite_core::value::any::Any;

use crate::containers::key;
use crate::hash_index::HashIndex;

/// Hash table from values to node indices. Values compare like Map keys.
#[derive(Default)]
pub(super) struct Numbers {
    entries: Buffer<NumberedNode>,
    index: HashIndex,
    count: i64,
}

struct NumberedNode {
    value: Any,
    /// Node index, or [`OPEN`] while the children of the value are being encoded.
    number: i64,
}

/// Placeholder for a node index that is not assigned yet.
const OPEN: i64 = -1;

/// Outcome of looking up a value.
pub(super) enum Found {
    /// The node index of the value.
    Number(i64),
    /// The value has no entry. Carries its hash, for [`Numbers::open`].
    Vacant(u32),
}

/// Entry of a value whose node index is not assigned yet.
#[derive(Clone, Copy)]
pub(super) struct Opened(usize);

impl Numbers {
    /// Looks up the node index of a value.
    ///
    /// # Errors
    /// ValueError for an object that contains itself; errors of key hooks.
    pub(super) fn find(&self, value: &Any) -> Result<Found> {
        let hash = (key::hash(&value.view())?.wrapping_mul(GOLDEN_RATIO) >> 32) as u32;
        let mut found = Ok(None);
        self.index.find(hash, |place| {
            found = self.number_of(place, value);
            !matches!(found, Ok(None))
        });
        Ok(found?.map_or(Found::Vacant(hash), Found::Number))
    }

    /// Returns the node index of the entry at `place` if it is for `value`; `None` otherwise.
    fn number_of(&self, place: usize, value: &Any) -> Result<Option<i64>> {
        let Some(entry) = self.entries.get(place) else { return Ok(None) };
        if !key::equal(entry.value.view(), value.view())? {
            return Ok(None);
        }
        match entry.number {
            OPEN if entry.value.view().object_ptr() == value.view().object_ptr() => {
                Err(self.cycle(value))
            }
            // A different object, equal by a hook to one that contains it.
            OPEN => Ok(None),
            number => Ok(Some(number)),
        }
    }

    /// Inserts a value that was not found, without a node index.
    ///
    /// # Errors
    /// MemoryError.
    pub(super) fn open(&mut self, value: Any, hash: u32) -> Result<Opened> {
        let place = self.entries.len();
        if place == self.index.capacity() {
            self.index.grow()?;
        }
        self.entries.try_push(NumberedNode { value, number: OPEN })?;
        self.index.find_or_insert(hash, place, |_| false);
        Ok(Opened(place))
    }

    /// Assigns the next node index to a value, and returns it.
    pub(super) fn close(&mut self, opened: Opened) -> i64 {
        let number = self.count;
        self.count += 1;
        if let Some(entry) = self.entries.get_mut(opened.0) {
            entry.number = number;
        }
        number
    }

    /// Creates the error for an object that contains itself.
    ///
    /// Names the same container as upstream: the first List or Dict in the cycle, since upstream
    /// tracks only those.
    fn cycle(&self, again: &Any) -> Error {
        let open = self.entries.iter().filter(|entry| entry.number == OPEN);
        let mut ring =
            open.skip_while(|entry| entry.value.view().object_ptr() != again.view().object_ptr());
        let is_watched = |entry: &&NumberedNode| {
            matches!(entry.value.type_index(), type_index::LIST | type_index::DICT)
        };
        let what = match ring
            .find(is_watched)
            .map_or(again.type_index(), |entry| entry.value.type_index())
        {
            type_index::LIST => Lossy(b"List"),
            type_index::DICT => Lossy(b"Dict"),
            other => Lossy(type_table::type_key_of(other)),
        };
        plain_error!(VALUE_ERROR, "Cycle detected during serialization: a {} contains itself", what)
    }
}
