//! Common interface of all four containers: entries by slot and values by key. The keys of a sequence are its indices.

use ferrite_core::any::Any;
use ferrite_core::error::Result;
use ferrite_core::object::ObjectRef;
use ferrite_core::type_index;

use super::sequence::Seq;
use super::table::Table;

/// Slot number that marks the end of a table.
const END: usize = usize::MAX;

/// A borrowed container. Other references may change it at the same time.
#[derive(Clone, Copy)]
pub(crate) struct Container<'a>(Kind<'a>);

#[derive(Clone, Copy)]
enum Kind<'a> {
    Sequence(Seq<'a>),
    Table(Table<'a>),
}

impl<'a> Container<'a> {
    /// Returns the container interface of an object; `None` for an object of another class.
    pub(crate) fn of(object: &'a ObjectRef) -> Option<Self> {
        // SAFETY: the type index tells the class.
        unsafe {
            match object.type_index() {
                type_index::ARRAY | type_index::LIST => Some(Self(Kind::Sequence(Seq::of(object)))),
                type_index::MAP | type_index::DICT => Some(Self(Kind::Table(Table::of(object)))),
                _ => None,
            }
        }
    }

    /// Returns `true` for a Map or Dict; `false` for a sequence.
    pub(crate) fn is_table(self) -> bool {
        matches!(self.0, Kind::Table(_))
    }

    /// Returns the number of entries.
    pub(crate) fn len(self) -> usize {
        match self.0 {
            Kind::Sequence(seq) => seq.len(),
            Kind::Table(table) => table.len(),
        }
    }

    /// Returns the slot of the first entry in order, or a slot without an entry if the container is empty.
    pub(crate) fn first(self) -> usize {
        match self.0 {
            Kind::Sequence(_) => 0,
            Kind::Table(table) => table.first().unwrap_or(END),
        }
    }

    /// Returns the slot after `slot` in order, or a slot without an entry at the end.
    pub(crate) fn next(self, slot: usize) -> usize {
        match self.0 {
            Kind::Sequence(_) => slot.wrapping_add(1),
            Kind::Table(table) => table.next(slot).unwrap_or(END),
        }
    }

    /// Copies the entry at `slot` to `key` and `value`. Returns `false` if a table has no entry in that slot.
    ///
    /// # Errors
    /// IndexError if a sequence has no element at that index.
    pub(crate) fn entry(self, slot: usize, key: &mut Any, value: &mut Any) -> Result<bool> {
        match self.0 {
            Kind::Sequence(seq) => {
                *key = Any::from(slot as i64);
                *value = seq.element(slot as i64)?;
            }
            Kind::Table(table) => {
                let Some(entry) = table.entry(slot) else { return Ok(false) };
                // SAFETY: one thread at a time uses the table, and no user callback runs while the cells are copied.
                (*key, *value) = unsafe { entry.copy() };
            }
        }
        Ok(true)
    }

    /// Copies the value of `key` to `value`. Returns `false` if a table does not contain the key.
    ///
    /// # Errors
    /// Errors of key hooks; IndexError if a sequence has no element at that index.
    pub(crate) fn value_of(self, key: &Any, value: &mut Any) -> Result<bool> {
        match self.0 {
            Kind::Sequence(seq) => *value = seq.element(key.view().payload_bits() as i64)?,
            Kind::Table(table) => {
                let Some(entry) = table.find_entry(key.as_view())? else { return Ok(false) };
                // SAFETY: as in `entry`.
                *value = unsafe { entry.copy_value() };
            }
        }
        Ok(true)
    }
}
