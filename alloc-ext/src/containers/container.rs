//! Containers of all four classes behind one interface: entries by slot, values by key. The keys of a sequence are its
//! indices.

use ferrite_core::any::Any;
use ferrite_core::error::Result;
use ferrite_core::object::ObjectRef;
use ferrite_core::type_index;

use super::sequence::Seq;
use super::table::Table;

/// Stands for the end of a table.
const END: usize = usize::MAX;

/// A borrowed container, which other references may change at the same time.
#[derive(Clone, Copy)]
pub(crate) struct Container<'a>(Kind<'a>);

#[derive(Clone, Copy)]
enum Kind<'a> {
    Sequence(Seq<'a>),
    Table(Table<'a>),
}

impl<'a> Container<'a> {
    /// Returns the container of an object; None for an object of another class.
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

    /// Returns `true` for a Map or Dict, whose keys are not indices.
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

    /// Returns the slot of the first entry in order.
    pub(crate) fn first(self) -> usize {
        match self.0 {
            Kind::Sequence(_) => 0,
            Kind::Table(table) => table.first().unwrap_or(END),
        }
    }

    /// Returns the slot of the entry after the one at `slot`.
    pub(crate) fn next(self, slot: usize) -> usize {
        match self.0 {
            Kind::Sequence(_) => slot.wrapping_add(1),
            Kind::Table(table) => table.next(slot).unwrap_or(END),
        }
    }

    /// Writes key and value of the entry at `slot` to `key` and `value`. Returns false when a table has no entry there any
    /// more.
    ///
    /// # Errors
    /// IndexError when a sequence has none there any more.
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

    /// Writes the value of a key to `value`. Returns false when the key is not present.
    ///
    /// # Errors
    /// Those of key hooks; IndexError where a sequence does not have the index.
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
