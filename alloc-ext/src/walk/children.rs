//! What is directly inside a value, in order.
#![forbid(unsafe_code)]

use ferrite_core::any::Any;
use ferrite_core::error::Result;
use ferrite_core::memory::Buffer;
use ferrite_core::type_index;

use super::field::{Field, for_each_field};
use crate::containers::{ArrayObject, DictObject, ListObject, MapObject};

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
pub struct Children {
    /// What they are.
    pub kind: ChildrenKind,
    source: Source,
    /// The fields that they are the values of, for [`ChildrenKind::Fields`].
    fields: Buffer<Field>,
    passed: usize,
}

enum Source {
    Array(ArrayObject),
    /// The place is that of the entry whose key or value comes next.
    Map(MapObject, Option<u64>),
    Taken(Buffer<Any>),
}

impl Children {
    /// The children of an object; fields that have one of the flags in `skipped` are left out.
    ///
    /// # Errors
    ///
    /// Those of getters; MemoryError; InternalError for an object of an unregistered type.
    pub fn of(value: &Any, skipped: i64) -> Result<Self> {
        let (mut taken, mut fields) = (Buffer::new(), Buffer::new());
        let (kind, source) = match value.type_index() {
            type_index::ARRAY => (ChildrenKind::Sequence, Source::Array(value.get()?)),
            type_index::MAP => {
                let map: MapObject = value.get()?;
                let first = map.first_place();
                (ChildrenKind::Map, Source::Map(map, first))
            }
            type_index::LIST => {
                let list = value.get::<ListObject>()?;
                taken.try_reserve(list.len())?;
                (0..list.len()).try_for_each(|index| taken.try_push(list.get(index as i64)?))?;
                (ChildrenKind::Sequence, Source::Taken(taken))
            }
            type_index::DICT => {
                value.get::<DictObject>()?.iter().try_for_each(|(key, value)| {
                    taken.try_push(key)?;
                    taken.try_push(value)
                })?;
                (ChildrenKind::Map, Source::Taken(taken))
            }
            index => {
                for_each_field(index, |field| {
                    if field.flags() & skipped != 0 {
                        return Ok(());
                    }
                    taken.try_push(field.get(value)?)?;
                    fields.try_push(field)
                })?;
                (ChildrenKind::Fields, Source::Taken(taken))
            }
        };
        Ok(Self { kind, source, fields, passed: 0 })
    }

    /// Number of all children, keys and values counted each.
    pub fn len(&self) -> usize {
        match &self.source {
            Source::Array(array) => array.len(),
            Source::Map(map, _) => 2 * map.len(),
            Source::Taken(values) => values.len(),
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

    /// The next child, as it lies in memory.
    #[inline]
    pub fn peek(&self) -> Option<&Any> {
        match &self.source {
            Source::Array(array) => array.as_slice().get(self.passed),
            Source::Map(map, place) => {
                let (key, value) = map.entry_refs((*place)?)?;
                Some(if self.passed.is_multiple_of(2) { key } else { value })
            }
            Source::Taken(values) => values.get(self.passed),
        }
    }

    /// Goes on to the child after the next one.
    #[inline]
    pub fn advance(&mut self) {
        if let Source::Map(map, place) = &mut self.source
            && self.passed % 2 == 1
        {
            *place = place.and_then(|place| map.next_place(place));
        }
        self.passed += 1;
    }

    /// A reference to the next child, which is passed.
    pub fn take(&mut self) -> Option<Any> {
        let child = self.peek()?.clone();
        self.advance();
        Some(child)
    }

    /// The fields, by the numbers of their values.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// The child that was passed last, which is the value of a field, and that field.
    pub fn last_field(&self) -> Option<(Field, &Any)> {
        let place = self.passed.checked_sub(1)?;
        let Source::Taken(values) = &self.source else { return None };
        Some((*self.fields.get(place)?, values.get(place)?))
    }
}
