//! Input of the decoder: JSON values, or the tree of a parsed text, which is read without creating
//! values.
#![forbid(unsafe_code)]

use ferrite_core::error::Result;
use ferrite_core::value::any::Any;
use ferrite_core::value::convert::AnyCompatible;
use ferrite_core::value::string::String;

use crate::containers::{Array, Map, missing_key};
use crate::json::{Tree, TreeValue};

/// A JSON value, or a node in the tree of a parsed text.
pub(super) enum Json<'t> {
    Value(Any),
    Part(&'t Tree<'t>, &'t TreeValue),
}

/// A JSON object: a Map, or entries in the tree of a parsed text.
pub(super) enum Entries<'t> {
    Map(Map<Any, Any>),
    Parts(&'t Tree<'t>, &'t [[TreeValue; 2]]),
}

/// A JSON array: an Array, or elements in the tree of a parsed text.
pub(super) enum Elements<'t> {
    Array(Array<Any>),
    Parts(&'t Tree<'t>, &'t [TreeValue]),
}

/// Maximum number of entries for which linear search is faster than hashing.
const FEW_ENTRIES: usize = 16;

impl<'t> Json<'t> {
    /// Returns the root of a tree.
    pub(super) fn root(tree: &'t Tree<'t>) -> Self {
        Self::Part(tree, tree.root())
    }

    /// Converts to an [`Any`].
    ///
    /// # Errors
    /// MemoryError.
    pub(super) fn into_any(self) -> Result<Any> {
        match self {
            Self::Value(value) => Ok(value),
            Self::Part(tree, part) => tree.to_any(*part),
        }
    }

    /// Converts to an int.
    ///
    /// # Errors
    /// TypeError for any other type.
    pub(super) fn into_int(self) -> Result<i64> {
        match self {
            Self::Part(_, TreeValue::Int(value)) => Ok(*value),
            other => other.into_any()?.get(),
        }
    }

    /// Converts to a string.
    ///
    /// # Errors
    /// TypeError for any other type; MemoryError.
    pub(super) fn into_string(self) -> Result<String> {
        let value = self.into_any()?;
        value.get()
    }

    /// Calls `take` with the content of a string.
    ///
    /// # Errors
    /// TypeError if this is not a string; MemoryError; errors of `take`.
    pub(super) fn with_string<T>(self, take: impl FnOnce(&[u8]) -> Result<T>) -> Result<T> {
        if let Self::Part(tree, part) = &self
            && let Some(content) = tree.string(part)
        {
            return take(content);
        }
        take(self.into_string()?.as_bytes())
    }

    /// Converts to an object.
    ///
    /// # Errors
    /// TypeError for any other type; MemoryError.
    pub(super) fn into_entries(self) -> Result<Entries<'t>> {
        match self.parts_of_object() {
            Some(entries) => Ok(entries),
            None => self.into_any()?.get().map(Entries::Map),
        }
    }

    /// Converts to an object; `None` for any other type.
    ///
    /// # Errors
    /// MemoryError.
    pub(super) fn try_entries(self) -> Result<Option<Entries<'t>>> {
        match self.parts_of_object() {
            Some(entries) => Ok(Some(entries)),
            None => {
                Ok(self.into_any()?.try_get()?.map(Map::from_object_unchecked).map(Entries::Map))
            }
        }
    }

    fn parts_of_object(&self) -> Option<Entries<'t>> {
        let Self::Part(tree, part) = self else { return None };
        let entries = tree.entries(part).filter(|entries| entries.len() <= FEW_ENTRIES)?;
        Some(Entries::Parts(tree, entries))
    }

    /// Converts to an array.
    ///
    /// # Errors
    /// TypeError for any other type; MemoryError.
    pub(super) fn into_elements(self) -> Result<Elements<'t>> {
        match self.parts_of_array() {
            Some(elements) => Ok(elements),
            None => self.into_any()?.get().map(Elements::Array),
        }
    }

    /// Converts to an array; `None` for any other type.
    ///
    /// # Errors
    /// MemoryError.
    pub(super) fn try_elements(self) -> Result<Option<Elements<'t>>> {
        match self.parts_of_array() {
            Some(elements) => Ok(Some(elements)),
            None => Ok(self
                .into_any()?
                .try_get()?
                .map(Array::from_object_unchecked)
                .map(Elements::Array)),
        }
    }

    fn parts_of_array(&self) -> Option<Elements<'t>> {
        let Self::Part(tree, part) = self else { return None };
        Some(Elements::Parts(tree, tree.elements(part)?))
    }
}

impl<'t> Entries<'t> {
    /// Looks up the value of a key; `None` if there is none.
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
                // The last value of a repeated key counts.
                let found = entries.iter().rev().find(|[known, _]| tree.is_string(known, key));
                Ok(found.map(|[_, part]| Json::Part(tree, part)))
            }
        }
    }

    /// Looks up the value of a required key.
    ///
    /// # Errors
    /// KeyError if the object lacks the key; MemoryError.
    pub(super) fn at(&self, key: &[u8]) -> Result<Json<'t>> {
        self.get(key)?.ok_or_else(missing_key)
    }
}

impl<'t> Elements<'t> {
    /// Returns the number of elements.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Array(array) => array.len(),
            Self::Parts(_, elements) => elements.len(),
        }
    }

    /// Returns the element at an index; `None` past the end.
    pub(super) fn get(&self, place: usize) -> Option<Json<'t>> {
        match self {
            Self::Array(array) => array.as_slice().get(place).cloned().map(Json::Value),
            Self::Parts(tree, elements) => elements.get(place).map(|part| Json::Part(tree, part)),
        }
    }
}
