//! Which values have a node already, and which.
#![forbid(unsafe_code)]

use ferrite_core::any::Any;
use ferrite_core::error::{Error, Result};
use ferrite_core::text::Lossy;
use ferrite_core::{error, type_index, type_table};

use crate::containers::{MapObject, key};
use crate::walk::Seen;

/// The numbers of the nodes so far.
pub(super) struct Numbers {
    /// Objects, by identity; None while their children are numbered.
    objects: Seen<Any, Option<i64>>,
    /// Numbers of values that may be equal to others.
    values: MapObject,
    count: i64,
}

impl Numbers {
    /// No nodes.
    ///
    /// # Errors
    ///
    /// MemoryError.
    pub(super) fn new() -> Result<Self> {
        Ok(Self { objects: Seen::default(), values: MapObject::with_capacity(0)?, count: 0 })
    }

    /// How many nodes there are.
    pub(super) fn count(&self) -> i64 {
        self.count
    }

    /// The number of a value.
    ///
    /// # Errors
    ///
    /// ValueError for an object inside itself; those of key hooks.
    pub(super) fn get(&self, value: &Any) -> Result<Option<i64>> {
        if value.view().object_ptr().is_some()
            && let Some(number) = self.objects.get(value)
        {
            return number.map(Some).ok_or_else(|| cycle(value));
        }
        match is_equal_to_others(value.type_index()) {
            true => self.values.get(value.view())?.map(Any::get::<i64>).transpose(),
            false => Ok(None),
        }
    }

    /// Begins an object whose children are numbered before it.
    ///
    /// # Errors
    ///
    /// MemoryError.
    pub(super) fn open(&mut self, object: &Any) -> Result<()> {
        self.objects.set(object, None)
    }

    /// Gives a value the next number.
    ///
    /// # Errors
    ///
    /// MemoryError; those of key hooks.
    pub(super) fn add(&mut self, value: &Any) -> Result<i64> {
        let number = self.count;
        if !is_equal_to_others(value.type_index()) {
            self.objects.set(value, Some(number))?;
        } else if self.values.get(value.view())?.is_none() {
            self.values.insert(value.clone(), Any::from(number))?;
        }
        self.count += 1;
        Ok(number)
    }
}

/// Whether values of a type can be equal without being the same object.
fn is_equal_to_others(index: i32) -> bool {
    index < type_index::STATIC_OBJECT_BEGIN
        || matches!(index, type_index::STR | type_index::BYTES | type_index::BIG_INT)
        || key::has_hash_hook(index)
}

fn cycle(object: &Any) -> Error {
    let what = match object.type_index() {
        type_index::LIST => Lossy(b"List"),
        type_index::DICT => Lossy(b"Dict"),
        other => Lossy(type_table::type_key_of(other)),
    };
    error!(VALUE_ERROR, "Cycle detected during serialization: a {what} contains itself")
}
