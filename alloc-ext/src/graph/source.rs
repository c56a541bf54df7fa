//! The JSON that a graph is read from: values, or the tree of a text, which saves making values of it.
#![forbid(unsafe_code)]

use ferrite_core::any::Any;
use ferrite_core::convert::AnyCompatible;
use ferrite_core::error::Result;
use ferrite_core::string::String;

use crate::containers::{Array, Map, missing_key};
use crate::json::{Tree, TreeValue};

/// A JSON value in either form.
pub(super) enum Json<'t> {
    Value(Any),
    Part(&'t Tree<'t>, &'t TreeValue),
}

/// A JSON object in either form.
pub(super) enum Entries<'t> {
    Map(Map<Any, Any>),
    Parts(&'t Tree<'t>, &'t [[TreeValue; 2]]),
}

/// A JSON array in either form.
pub(super) enum Elements<'t> {
    Array(Array<Any>),
    Parts(&'t Tree<'t>, &'t [TreeValue]),
}

/// Up to here, looking at one key after the other is faster than hashing.
const FEW_ENTRIES: usize = 16;

impl<'t> Json<'t> {
    /// The outermost value of a tree.
    pub(super) fn root(tree: &'t Tree<'t>) -> Self {
        Self::Part(tree, tree.root())
    }

    /// As a value.
    ///
    /// # Errors
    /// MemoryError.
    pub(super) fn into_any(self) -> Result<Any> {
        match self {
            Self::Value(value) => Ok(value),
            Self::Part(tree, part) => tree.to_any(*part),
        }
    }

    /// As an int.
    ///
    /// # Errors
    /// TypeError when it is none.
    pub(super) fn into_int(self) -> Result<i64> {
        match self {
            Self::Part(_, TreeValue::Int(value)) => Ok(*value),
            other => other.into_any()?.get(),
        }
    }

    /// As a string.
    ///
    /// # Errors
    /// TypeError when it is none; MemoryError.
    pub(super) fn into_string(self) -> Result<String> {
        let value = self.into_any()?;
        value.get()
    }

    /// What `take` answers to the content of a string.
    ///
    /// # Errors
    /// TypeError when it is none; those of `take`.
    pub(super) fn with_string<T>(self, take: impl FnOnce(&[u8]) -> Result<T>) -> Result<T> {
        if let Self::Part(tree, part) = &self
            && let Some(content) = tree.string(part)
        {
            return take(content);
        }
        take(self.into_string()?.as_bytes())
    }

    /// As an object.
    ///
    /// # Errors
    /// TypeError when it is none; MemoryError.
    pub(super) fn into_entries(self) -> Result<Entries<'t>> {
        match self.parts_of_object() {
            Some(entries) => Ok(entries),
            None => self.into_any()?.get().map(Entries::Map),
        }
    }

    /// As an object; None when it is none.
    ///
    /// # Errors
    /// MemoryError.
    pub(super) fn try_entries(self) -> Result<Option<Entries<'t>>> {
        match self.parts_of_object() {
            Some(entries) => Ok(Some(entries)),
            None => Ok(self.into_any()?.try_get()?.map(Map::from_object_unchecked).map(Entries::Map)),
        }
    }

    fn parts_of_object(&self) -> Option<Entries<'t>> {
        let Self::Part(tree, part) = self else { return None };
        let entries = tree.entries(part).filter(|entries| entries.len() <= FEW_ENTRIES)?;
        Some(Entries::Parts(tree, entries))
    }

    /// As an array.
    ///
    /// # Errors
    /// TypeError when it is none; MemoryError.
    pub(super) fn into_elements(self) -> Result<Elements<'t>> {
        match self.parts_of_array() {
            Some(elements) => Ok(elements),
            None => self.into_any()?.get().map(Elements::Array),
        }
    }

    /// As an array; None when it is none.
    ///
    /// # Errors
    /// MemoryError.
    pub(super) fn try_elements(self) -> Result<Option<Elements<'t>>> {
        match self.parts_of_array() {
            Some(elements) => Ok(Some(elements)),
            None => Ok(self.into_any()?.try_get()?.map(Array::from_object_unchecked).map(Elements::Array)),
        }
    }

    fn parts_of_array(&self) -> Option<Elements<'t>> {
        let Self::Part(tree, part) = self else { return None };
        Some(Elements::Parts(tree, tree.elements(part)?))
    }
}

impl<'t> Entries<'t> {
    /// The value of a key.
    ///
    /// # Errors
    /// MemoryError.
    pub(super) fn get(&self, key: &[u8]) -> Result<Option<Json<'t>>> {
        match self {
            Self::Map(map) => {
                let value = map.as_untyped().get(String::from_bytes(key)?.view())?;
                Ok(value.cloned().map(Json::Value))
            }
            Self::Parts(tree, entries) => {
                // Of a repeated key the last value counts.
                let found = entries.iter().rev().find(|[known, _]| tree.is_string(known, key));
                Ok(found.map(|[_, part]| Json::Part(tree, part)))
            }
        }
    }

    /// As [`get`](Self::get) where there must be a value.
    ///
    /// # Errors
    /// KeyError when there is none; MemoryError.
    pub(super) fn at(&self, key: &[u8]) -> Result<Json<'t>> {
        self.get(key)?.ok_or_else(missing_key)
    }
}

impl<'t> Elements<'t> {
    /// Number of elements.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Array(array) => array.len(),
            Self::Parts(_, elements) => elements.len(),
        }
    }

    /// The element at a place; None behind the last one.
    pub(super) fn get(&self, place: usize) -> Option<Json<'t>> {
        match self {
            Self::Array(array) => array.as_slice().get(place).cloned().map(Json::Value),
            Self::Parts(tree, elements) => elements.get(place).map(|part| Json::Part(tree, part)),
        }
    }
}
