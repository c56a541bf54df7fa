//! Cursor over the direct children of an object: elements, map entries or reflected fields, in
//! order.
#![forbid(unsafe_code)]

use ferrite_core::abi::type_index;
use ferrite_core::error::Result;
use ferrite_core::object::ObjectRef;
use ferrite_core::plain_bail;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::value::any::Any;

use super::field::{Field, for_each_field};
use super::maybe_owned::MaybeOwned;
use crate::containers::{ArrayObject, DictObject, ListObject, MapCursor, MapObject};

/// Kind of an object's children: elements, map entries or fields.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChildrenKind {
    /// The elements of an Array or List.
    Sequence,
    /// Keys and values of a Map or Dict, alternating.
    Map,
    /// The fields of any other object.
    Fields,
}

/// Cursor over the direct children of one object. Children of Arrays and Maps are read in place,
/// since these are immutable. Children of Lists, Dicts and other objects are copied when the cursor
/// is created.
pub struct Children<'w> {
    /// Kind of the children: elements, map entries or fields.
    pub kind: ChildrenKind,
    object: MaybeOwned<'w, ObjectRef>,
    source: Source<'w>,
    visited_count: usize,
}

enum Source<'w> {
    /// Elements of a borrowed Array.
    Borrowed(&'w [Any]),
    /// Elements of the Array in `object`, which the walk owns.
    Array,
    /// Entries of a borrowed Map.
    BorrowedMap(MapCursor<'w>),
    /// Index of the next entry of the Map in `object`, which the walk owns.
    Map(Option<u64>),
    /// Copied elements of a List, or copied keys and values of a Dict.
    Copied(Buffer<Any>),
    /// Copied field values, and their fields in the same order.
    Fields(Buffer<Any>, Buffer<Field>),
}

impl<'w> Children<'w> {
    /// Creates a cursor over the children of an object. Omits fields that have any of the flags in
    /// `skipped`.
    ///
    /// # Errors
    /// Errors of field getters; RuntimeError for a field without a getter, and if another thread is
    /// changing the List or Dict; InternalError for an object of an unregistered type; MemoryError.
    #[inline(always)]
    pub fn of(object: MaybeOwned<'w, ObjectRef>, skipped: i64) -> Result<Self> {
        let (kind, source) = match object.type_index() {
            type_index::ARRAY => {
                let borrowed =
                    object.borrowed().and_then(ObjectRef::as_class).map(ArrayObject::as_slice);
                (ChildrenKind::Sequence, borrowed.map_or(Source::Array, Source::Borrowed))
            }
            type_index::MAP => {
                let borrowed =
                    object.borrowed().and_then(ObjectRef::as_class).map(MapObject::cursor);
                let first = || Source::Map(object.as_class().and_then(MapObject::first_slot));
                (ChildrenKind::Map, borrowed.map_or_else(first, Source::BorrowedMap))
            }
            type_index::LIST => (ChildrenKind::Sequence, Source::Copied(elements_of(&object)?)),
            type_index::DICT => (ChildrenKind::Map, Source::Copied(entries_of(&object)?)),
            _ => {
                let (values, fields) = fields_of(&object, skipped)?;
                (ChildrenKind::Fields, Source::Fields(values, fields))
            }
        };
        Ok(Self { kind, object, source, visited_count: 0 })
    }

    /// Creates a cursor over the children of a value, with its own reference to the object.
    ///
    /// # Errors
    /// Errors of [`of`](Self::of); InternalError for a value that is not an object.
    pub fn of_value(value: &Any) -> Result<Children<'static>> {
        match value.as_object() {
            Some(object) => Children::of(MaybeOwned::Owned(object.clone()), 0),
            None => {
                plain_bail!(
                    INTERNAL_ERROR,
                    "Values of type index {} have no children",
                    value.type_index()
                )
            }
        }
    }

    /// Returns the parent object.
    pub fn object(&self) -> &MaybeOwned<'w, ObjectRef> {
        &self.object
    }

    /// Returns the total number of children, visited or not. Keys and values count separately.
    pub fn len(&self) -> usize {
        match &self.source {
            Source::BorrowedMap(..) | Source::Map(..) => {
                2 * self.object.as_class().map_or(0, MapObject::len)
            }
            _ => self.slice().len(),
        }
    }

    /// Returns `true` if the object has no children.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of children already visited.
    pub fn visited_count(&self) -> usize {
        self.visited_count
    }

    /// Returns the next children that are contiguous in memory: all remaining children, or the rest
    /// of one Map entry. Returns an empty slice at the end.
    #[inline]
    pub fn contiguous(&self) -> &[Any] {
        match &self.source {
            Source::BorrowedMap(next) => self.rest_of_entry(next.entry()),
            Source::Map(Some(place)) => {
                let map = self.object.as_class::<MapObject>();
                self.rest_of_entry(map.and_then(|map| map.entry_pair(*place)))
            }
            _ => self.slice().get(self.visited_count..).unwrap_or_default(),
        }
    }

    /// Advances by `count` children of the current [`contiguous`](Self::contiguous) slice.
    #[inline]
    pub fn advance(&mut self, count: usize) {
        let is_behind_entry = self.visited_count % 2 + count == 2;
        self.visited_count += count;
        if is_behind_entry {
            self.next_entry();
        }
    }

    /// Advances to the next entry of a Map.
    #[inline]
    fn next_entry(&mut self) {
        match &mut self.source {
            Source::BorrowedMap(next) => next.advance(),
            Source::Map(place) => {
                let map = self.object.as_class::<MapObject>();
                *place = place.and_then(|place| map?.next_slot(place));
            }
            _ => {}
        }
    }

    /// Returns the unvisited part of a Map entry: key and value, or only the value.
    #[inline]
    fn rest_of_entry<'a>(&self, entry: Option<&'a [Any; 2]>) -> &'a [Any] {
        entry.and_then(|entry| entry.get(self.visited_count % 2..)).unwrap_or_default()
    }

    /// Returns the next child and advances; `None` at the end. Children of a borrowed Array or Map
    /// are borrowed, all others are owned.
    pub fn take(&mut self) -> Option<MaybeOwned<'w>> {
        let borrowed = match &self.source {
            Source::Borrowed(elements) => elements.get(self.visited_count),
            Source::BorrowedMap(next) => {
                next.entry().and_then(|entry| entry.get(self.visited_count % 2))
            }
            _ => None,
        };
        let child = match borrowed {
            Some(child) => MaybeOwned::Borrowed(child),
            None => MaybeOwned::Owned(self.contiguous().first()?.clone()),
        };
        self.advance(1);
        Some(child)
    }

    /// Returns the fields, in the order of their values; empty for containers.
    pub fn fields(&self) -> &[Field] {
        match &self.source {
            Source::Fields(_, fields) => fields,
            _ => &[],
        }
    }

    /// Returns the field visited last, with its value; `None` before the first field and for
    /// containers.
    pub fn last_field(&self) -> Option<(Field, &Any)> {
        let place = self.visited_count.checked_sub(1)?;
        let Source::Fields(values, fields) = &self.source else { return None };
        Some((*fields.get(place)?, values.get(place)?))
    }

    /// Returns all children in place; empty for a Map, whose entries are not contiguous.
    #[inline]
    fn slice(&self) -> &[Any] {
        match &self.source {
            Source::Borrowed(elements) => elements,
            Source::Array => self.object.as_class().map_or(&[], ArrayObject::as_slice),
            Source::Copied(values) | Source::Fields(values, _) => values,
            Source::BorrowedMap(..) | Source::Map(..) => &[],
        }
    }
}

fn elements_of(list: &ObjectRef) -> Result<Buffer<Any>> {
    let mut copied = Buffer::new();
    if let Some(list) = list.as_class::<ListObject>() {
        let elements = list.elements()?;
        copied.try_reserve(elements.len())?;
        elements.iter().try_for_each(|element| copied.try_push(element.clone()))?;
    }
    Ok(copied)
}

fn entries_of(dict: &ObjectRef) -> Result<Buffer<Any>> {
    let mut copied = Buffer::new();
    if let Some(dict) = dict.as_class::<DictObject>() {
        for entry in dict.iter() {
            let (key, value) = entry?;
            copied.try_push(key)?;
            copied.try_push(value)?;
        }
    }
    Ok(copied)
}

fn fields_of(object: &ObjectRef, skipped: i64) -> Result<(Buffer<Any>, Buffer<Field>)> {
    let (mut values, mut fields) = (Buffer::new(), Buffer::new());
    for_each_field(object.type_index(), |field| {
        if field.flags() & skipped != 0 {
            return Ok(());
        }
        let mut value = Any::NONE;
        field.read(object, &mut value)?;
        values.try_push(value)?;
        Ok(fields.try_push(field)?)
    })?;
    Ok((values, fields))
}
