//! Common interface of all four containers: entries by slot and values by key. The keys of a
//! sequence are its indices.

use ferrite_core::abi::type_index;
use ferrite_core::error::Result;
use ferrite_core::object::ObjectRef;
use ferrite_core::object::borrow::Shared;
use ferrite_core::value::any::Any;

use super::sequence::Seq;
use super::table::Table;

/// Slot number that marks the end of a table.
const END: usize = usize::MAX;

/// A borrowed container. Other references may change a List or Dict between two calls.
#[derive(Clone, Copy)]
pub(crate) struct Container<'a> {
    object: &'a ObjectRef,
    is_table: bool,
}

enum Kind<'a> {
    Sequence(Seq<'a>),
    Table(Table<'a>),
}

impl<'a> Container<'a> {
    /// Returns the container interface of an object; `None` for an object of another class.
    pub(crate) fn of(object: &'a ObjectRef) -> Option<Self> {
        match object.type_index() {
            type_index::ARRAY | type_index::LIST => Some(Self { object, is_table: false }),
            type_index::MAP | type_index::DICT => Some(Self { object, is_table: true }),
            _ => None,
        }
    }

    /// Borrows the container for reading.
    ///
    /// # Errors
    /// RuntimeError if another thread is changing the container.
    fn read(self) -> Result<(Kind<'a>, Option<Shared<&'a ObjectRef>>)> {
        let borrow = super::borrow(self.object)?;
        // SAFETY: the constructor checked the class, and the caller keeps the borrow.
        let kind = unsafe {
            if self.is_table {
                Kind::Table(Table::of(self.object))
            } else {
                Kind::Sequence(Seq::of(self.object))
            }
        };
        Ok((kind, borrow))
    }

    /// Returns `true` for a Map or Dict; `false` for a sequence.
    pub(crate) fn is_table(self) -> bool {
        self.is_table
    }

    /// Returns the number of entries.
    pub(crate) fn len(self) -> usize {
        // SAFETY: the constructor checked the class.
        unsafe {
            if self.is_table { Table::len_now(self.object) } else { Seq::of(self.object).len_now() }
        }
    }

    /// Returns the slot of the first entry in order, or a slot without an entry if the container is
    /// empty.
    ///
    /// # Errors
    /// RuntimeError if another thread is changing the container.
    pub(crate) fn first(self) -> Result<usize> {
        let (kind, _borrow) = self.read()?;
        Ok(match kind {
            Kind::Sequence(_) => 0,
            Kind::Table(table) => table.first().unwrap_or(END),
        })
    }

    /// Returns the slot after `slot` in order, or a slot without an entry at the end.
    ///
    /// # Errors
    /// RuntimeError if another thread is changing the container.
    pub(crate) fn next(self, slot: usize) -> Result<usize> {
        let (kind, _borrow) = self.read()?;
        Ok(match kind {
            Kind::Sequence(_) => slot.wrapping_add(1),
            Kind::Table(table) => table.next(slot).unwrap_or(END),
        })
    }

    /// Copies the entry at `slot` to `key` and `value`. Returns `false` if a table has no entry in
    /// that slot.
    ///
    /// # Errors
    /// IndexError if a sequence has no element at that index; RuntimeError if another thread is
    /// changing the container.
    pub(crate) fn entry(self, slot: usize, key: &mut Any, value: &mut Any) -> Result<bool> {
        let entry = {
            let (kind, _borrow) = self.read()?;
            match kind {
                Kind::Sequence(seq) => Some((Any::from(slot as i64), seq.element(slot as i64)?)),
                // SAFETY: the borrow excludes writers.
                Kind::Table(table) => table.entry(slot).map(|entry| unsafe { entry.copy() }),
            }
        };
        // What is replaced is released without a borrow.
        let Some(entry) = entry else { return Ok(false) };
        (*key, *value) = entry;
        Ok(true)
    }

    /// Copies the value of `key` to `value`. Returns `false` if a table does not contain the key.
    ///
    /// # Errors
    /// Errors of key hooks; IndexError if a sequence has no element at that index; RuntimeError if
    /// another thread is changing the container.
    pub(crate) fn value_of(self, key: &Any, value: &mut Any) -> Result<bool> {
        let found = {
            let (kind, _borrow) = self.read()?;
            match kind {
                Kind::Sequence(seq) => Some(seq.element(key.view().payload_bits() as i64)?),
                Kind::Table(table) => {
                    // SAFETY: the borrow excludes writers.
                    table.find_entry(key.as_view())?.map(|entry| unsafe { entry.copy_value() })
                }
            }
        };
        let Some(found) = found else { return Ok(false) };
        *value = found;
        Ok(true)
    }
}
