//! What is directly inside a value, taken at one moment.
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

/// References to everything directly inside one object.
pub struct Children {
    /// What they are.
    pub kind: ChildrenKind,
    /// The children in order.
    pub values: Buffer<Any>,
    /// The fields that they are the values of, for [`ChildrenKind::Fields`].
    pub fields: Buffer<Field>,
}

impl Children {
    /// The children of an object; fields that have one of the flags in `skipped` are left out.
    ///
    /// # Errors
    ///
    /// Those of getters; MemoryError; InternalError for an object of an unregistered type.
    pub fn of(value: &Any, skipped: i64) -> Result<Self> {
        let mut children =
            Self { kind: ChildrenKind::Sequence, values: Buffer::new(), fields: Buffer::new() };
        match value.type_index() {
            type_index::ARRAY => children.extend(value.get::<ArrayObject>()?.as_slice().iter().cloned())?,
            type_index::LIST => {
                let list = value.get::<ListObject>()?;
                for index in 0..list.len() {
                    children.values.try_push(list.get(index as i64)?)?;
                }
            }
            type_index::MAP => {
                let map = value.get::<MapObject>()?;
                children.extend_pairs(map.iter().map(|(key, value)| (key.clone(), value.clone())))?;
            }
            type_index::DICT => children.extend_pairs(value.get::<DictObject>()?.iter())?,
            _ => children.extend_fields(value, skipped)?,
        }
        Ok(children)
    }

    fn extend(&mut self, values: impl ExactSizeIterator<Item = Any>) -> Result<()> {
        self.values.try_reserve(values.len())?;
        values.into_iter().try_for_each(|value| self.values.try_push(value))
    }

    fn extend_pairs(&mut self, mut pairs: impl Iterator<Item = (Any, Any)>) -> Result<()> {
        self.kind = ChildrenKind::Map;
        pairs.try_for_each(|(key, value)| {
            self.values.try_push(key)?;
            self.values.try_push(value)
        })
    }

    fn extend_fields(&mut self, object: &Any, skipped: i64) -> Result<()> {
        self.kind = ChildrenKind::Fields;
        for_each_field(object.type_index(), |field| {
            if field.flags() & skipped != 0 {
                return Ok(());
            }
            self.values.try_push(field.get(object)?)?;
            self.fields.try_push(field)
        })
    }
}
