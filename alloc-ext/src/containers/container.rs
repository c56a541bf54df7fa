//! Containers of all four classes behind one interface: entries by place, values by key. The keys of a sequence are its
//! indices.

use ferrite_core::any::Any;
use ferrite_core::error::Result;
use ferrite_core::object::ObjectRef;
use ferrite_core::type_index;

use super::sequence::Seq;
use super::table::Table;

/// The place behind the last entry of a table.
const END: usize = usize::MAX;

/// A container while it is borrowed. Others may change it meanwhile.
#[derive(Clone, Copy)]
pub(crate) struct Container<'a>(Kind<'a>);

#[derive(Clone, Copy)]
enum Kind<'a> {
    Sequence(Seq<'a>),
    Table(Table<'a>),
}

impl<'a> Container<'a> {
    /// An object as a container; None when it is none.
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

    /// Whether it has keys of its own.
    pub(crate) fn is_table(self) -> bool {
        matches!(self.0, Kind::Table(_))
    }

    /// Number of entries.
    pub(crate) fn len(self) -> usize {
        match self.0 {
            Kind::Sequence(seq) => seq.len(),
            Kind::Table(table) => table.len(),
        }
    }

    /// The place of the first entry in order.
    pub(crate) fn first(self) -> usize {
        match self.0 {
            Kind::Sequence(_) => 0,
            Kind::Table(table) => table.first().unwrap_or(END),
        }
    }

    /// The place of the entry after the one at `place`.
    pub(crate) fn next(self, place: usize) -> usize {
        match self.0 {
            Kind::Sequence(_) => place.wrapping_add(1),
            Kind::Table(table) => table.next(place).unwrap_or(END),
        }
    }

    /// Puts key and value at a place where they are asked for; false where a table has no entry any more.
    ///
    /// # Errors
    /// IndexError where a sequence has none any more.
    pub(crate) fn entry(self, place: usize, key: &mut Any, value: &mut Any) -> Result<bool> {
        match self.0 {
            Kind::Sequence(seq) => {
                *key = Any::from(place as i64);
                *value = seq.element(place as i64)?;
            }
            Kind::Table(table) => {
                let Some(entry) = table.entry(place) else { return Ok(false) };
                // SAFETY: one thread at a time uses the table, and no user callback runs while the cells are copied.
                (*key, *value) = unsafe { entry.copy() };
            }
        }
        Ok(true)
    }

    /// Puts the value of a key where it is asked for; false when there is none.
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
