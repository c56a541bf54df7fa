//! What is directly inside a value, in order.
#![forbid(unsafe_code)]

use ferrite_core::any::Any;
use ferrite_core::error::Result;
use ferrite_core::memory::Buffer;
use ferrite_core::object::ObjectRef;
use ferrite_core::{plain_bail, type_index};

use super::field::{Field, for_each_field};
use super::maybe_owned::MaybeOwned;
use crate::containers::{ArrayObject, DictObject, ListObject, MapCursor, MapObject};

/// How children belong to their value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChildrenKind {
    /// The elements of an Array or List.
    Sequence,
    /// The keys and values of a Map or Dict, in turns.
    Map,
    /// The fields of any other object.
    Fields,
}

/// Everything directly inside one object, from the next child on: those of Arrays and Maps where they lie, since these do
/// not change while they are held; others as they were at one moment.
pub struct Children<'w> {
    /// What they are.
    pub kind: ChildrenKind,
    object: MaybeOwned<'w, ObjectRef>,
    source: Source<'w>,
    passed: usize,
}

enum Source<'w> {
    /// The elements of an Array that is lent.
    Borrowed(&'w [Any]),
    /// The elements of the Array that the object is.
    Array,
    /// A Map that is lent, at the entry whose key or value comes next.
    BorrowedMap(MapCursor<'w>),
    /// The place of that entry in the Map that the object is.
    Map(Option<u64>),
    /// What was inside a List or Dict.
    Taken(Buffer<Any>),
    /// The values of fields, and the fields.
    Fields(Buffer<Any>, Buffer<Field>),
}

impl<'w> Children<'w> {
    /// The children of an object; fields that have one of the flags in `skipped` are left out.
    ///
    /// # Errors
    /// Those of getters; MemoryError; InternalError for an object of an unregistered type.
    #[cfg_attr(feature = "speed", inline(always))]
    pub fn of(object: MaybeOwned<'w, ObjectRef>, skipped: i64) -> Result<Self> {
        let (kind, source) = match object.type_index() {
            type_index::ARRAY => {
                let lent = object.borrowed().and_then(ObjectRef::as_class).map(ArrayObject::as_slice);
                (ChildrenKind::Sequence, lent.map_or(Source::Array, Source::Borrowed))
            }
            type_index::MAP => {
                let lent = object.borrowed().and_then(ObjectRef::as_class).map(MapObject::cursor);
                let first = || Source::Map(object.as_class().and_then(MapObject::first_slot));
                (ChildrenKind::Map, lent.map_or_else(first, Source::BorrowedMap))
            }
            type_index::LIST => (ChildrenKind::Sequence, Source::Taken(elements_of(&object)?)),
            type_index::DICT => (ChildrenKind::Map, Source::Taken(entries_of(&object)?)),
            _ => {
                let (values, fields) = fields_of(&object, skipped)?;
                (ChildrenKind::Fields, Source::Fields(values, fields))
            }
        };
        Ok(Self { kind, object, source, passed: 0 })
    }

    /// The children of a value that nobody lends to the walk.
    ///
    /// # Errors
    /// As [`of`](Self::of); InternalError for a value that is no object.
    pub fn of_value(value: &Any) -> Result<Children<'static>> {
        match value.as_object() {
            Some(object) => Children::of(MaybeOwned::Owned(object.clone()), 0),
            None => {
                plain_bail!(INTERNAL_ERROR, "Values of type index {} have no children", value.type_index())
            }
        }
    }

    /// The object that they are in.
    pub fn object(&self) -> &MaybeOwned<'w, ObjectRef> {
        &self.object
    }

    /// Number of all children, keys and values counted each.
    pub fn len(&self) -> usize {
        match &self.source {
            Source::BorrowedMap(..) | Source::Map(..) => 2 * self.object.as_class().map_or(0, MapObject::len),
            _ => self.slice().len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of children that were passed.
    pub fn passed(&self) -> usize {
        self.passed
    }

    /// The next children that lie side by side in memory: all that are left, or those of one entry of a Map. None at the
    /// end.
    #[inline]
    pub fn run(&self) -> &[Any] {
        match &self.source {
            Source::BorrowedMap(next) => self.rest_of_entry(next.entry()),
            Source::Map(Some(place)) => {
                let map = self.object.as_class::<MapObject>();
                self.rest_of_entry(map.and_then(|map| map.entry_pair(*place)))
            }
            _ => self.slice().get(self.passed..).unwrap_or_default(),
        }
    }

    /// Passes so many children of the [`run`](Self::run).
    #[inline]
    pub fn pass(&mut self, count: usize) {
        let is_behind_entry = self.passed % 2 + count == 2;
        self.passed += count;
        if is_behind_entry {
            self.next_entry();
        }
    }

    /// Goes on to the next entry of a Map.
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

    /// What has not been passed of the entry of a Map.
    #[inline]
    fn rest_of_entry<'a>(&self, entry: Option<&'a [Any; 2]>) -> &'a [Any] {
        entry.and_then(|entry| entry.get(self.passed % 2..)).unwrap_or_default()
    }

    /// The next child, which is passed: lent, or with a reference to it.
    pub fn take(&mut self) -> Option<MaybeOwned<'w>> {
        let lent = match &self.source {
            Source::Borrowed(elements) => elements.get(self.passed),
            Source::BorrowedMap(next) => next.entry().and_then(|entry| entry.get(self.passed % 2)),
            _ => None,
        };
        let child = match lent {
            Some(child) => MaybeOwned::Borrowed(child),
            None => MaybeOwned::Owned(self.run().first()?.clone()),
        };
        self.pass(1);
        Some(child)
    }

    /// The fields, by the numbers of their values.
    pub fn fields(&self) -> &[Field] {
        match &self.source {
            Source::Fields(_, fields) => fields,
            _ => &[],
        }
    }

    /// The child that was passed last, which is the value of a field, and that field.
    pub fn last_field(&self) -> Option<(Field, &Any)> {
        let place = self.passed.checked_sub(1)?;
        let Source::Fields(values, fields) = &self.source else { return None };
        Some((*fields.get(place)?, values.get(place)?))
    }

    /// All children of what is no Map.
    #[inline]
    fn slice(&self) -> &[Any] {
        match &self.source {
            Source::Borrowed(elements) => elements,
            Source::Array => self.object.as_class().map_or(&[], ArrayObject::as_slice),
            Source::Taken(values) | Source::Fields(values, _) => values,
            Source::BorrowedMap(..) | Source::Map(..) => &[],
        }
    }
}

fn elements_of(list: &ObjectRef) -> Result<Buffer<Any>> {
    let mut taken = Buffer::new();
    if let Some(list) = list.as_class::<ListObject>() {
        taken.try_reserve(list.len())?;
        for index in 0..list.len() {
            taken.try_push(list.get(index as i64)?)?;
        }
    }
    Ok(taken)
}

fn entries_of(dict: &ObjectRef) -> Result<Buffer<Any>> {
    let mut taken = Buffer::new();
    if let Some(dict) = dict.as_class::<DictObject>() {
        dict.iter().try_for_each(|(key, value)| {
            taken.try_push(key)?;
            taken.try_push(value)
        })?;
    }
    Ok(taken)
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
