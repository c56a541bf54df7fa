//! Containers of all four classes behind one face: entries by place, values by key. The keys of a sequence are its indices.

use ferrite_core::any::{Any, AnyView};
use ferrite_core::error::Result;
use ferrite_core::object::ObjectRef;
use ferrite_core::type_index;

use super::map_base::{NO_SLOT, Table};
use super::seq::Seq;

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
            Kind::Table(table) => table.first().unwrap_or(NO_SLOT),
        }
    }

    /// The place of the entry after the one at `place`.
    pub(crate) fn next(self, place: usize) -> usize {
        match self.0 {
            Kind::Sequence(_) => place.wrapping_add(1),
            Kind::Table(table) => table.next(place).unwrap_or(NO_SLOT),
        }
    }

    /// Key and value at a place; None where a table has no entry any more.
    ///
    /// # Errors
    ///
    /// IndexError where a sequence has none any more.
    pub(crate) fn entry(self, place: usize) -> Result<Option<(Any, Any)>> {
        match self.0 {
            Kind::Sequence(seq) => {
                let index = place as i64;
                seq.element(index).map(|value| Some((Any::from(index), value)))
            }
            // SAFETY: one thread at a time uses the table, and no foreign code runs while the cells are copied.
            Kind::Table(table) => Ok(table.entry(place).map(|entry| unsafe { entry.copy() })),
        }
    }

    /// The value of a key.
    ///
    /// # Errors
    ///
    /// Those of key hooks; IndexError where a sequence does not have the index.
    pub(crate) fn value_of(self, key: &AnyView<'_>) -> Result<Option<Any>> {
        match self.0 {
            Kind::Sequence(seq) => seq.element(key.payload_bits() as i64).map(Some),
            // SAFETY: as in `entry`.
            Kind::Table(table) => Ok(table.find_entry(key)?.map(|entry| unsafe { entry.copy_value() })),
        }
    }
}
