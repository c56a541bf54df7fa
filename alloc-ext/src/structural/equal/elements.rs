//! Arrays and Lists, Maps and Dicts, each pair behind one face: read in place while a walk holds them.
#![forbid(unsafe_code)]

use ferrite_core::any::{Any, AnyView};
use ferrite_core::error::Result;
use ferrite_core::{error, type_index};

use crate::containers::{ArrayObject, DictObject, ListObject, MapObject};

/// The elements of a sequence.
pub(super) enum Elements {
    Array(ArrayObject),
    List(ListObject),
}

impl Elements {
    /// Those of an Array or List; an error for other values.
    pub(super) fn of(value: &Any) -> Result<Self> {
        match value.type_index() {
            type_index::ARRAY => value.get().map(Self::Array),
            _ => value.get().map(Self::List),
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Array(array) => array.len(),
            Self::List(list) => list.len(),
        }
    }

    /// Shows an element to `look`.
    ///
    /// # Errors
    ///
    /// IndexError for one that is gone, because a hook made a List shorter; those of `look`.
    #[inline]
    pub(super) fn with<R>(&self, index: usize, look: impl FnOnce(&Any) -> Result<R>) -> Result<R> {
        match self {
            Self::Array(array) => match array.as_slice().get(index) {
                Some(element) => look(element),
                None => Err(error!(INDEX_ERROR, "Index {index} out of bounds {}", array.len())),
            },
            Self::List(list) => look(&list.get(index as i64)?),
        }
    }

    /// A reference of its own to an element.
    ///
    /// # Errors
    ///
    /// As for [`with`](Self::with).
    pub(super) fn get(&self, index: usize) -> Result<Any> {
        self.with(index, |element| Ok(element.clone()))
    }
}

/// The entries of a map.
pub(super) enum Entries {
    Map(MapObject),
    Dict(DictObject),
}

impl Entries {
    /// Those of a Map or Dict; an error for other values.
    pub(super) fn of(value: &Any) -> Result<Self> {
        match value.type_index() {
            type_index::MAP => value.get().map(Self::Map),
            _ => value.get().map(Self::Dict),
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Map(map) => map.len(),
            Self::Dict(dict) => dict.len(),
        }
    }

    /// The value of a key.
    ///
    /// # Errors
    ///
    /// Those of key hooks.
    pub(super) fn find(&self, key: AnyView<'_>) -> Result<Option<Any>> {
        match self {
            Self::Map(map) => Ok(map.get(key)?.cloned()),
            Self::Dict(dict) => dict.get(key),
        }
    }

    fn entry(&self, place: u64) -> Option<(Any, Any)> {
        match self {
            Self::Map(map) => map.entry_refs(place).map(|(key, value)| (key.clone(), value.clone())),
            Self::Dict(dict) => dict.entry_at(place),
        }
    }
}

/// Where a walk through [`Entries`] is. It ends early when a hook takes entries out of a Dict, and sees no more of them
/// than there were in the beginning.
#[derive(Clone, Copy)]
pub(super) struct Cursor {
    place: Option<u64>,
    left: usize,
}

impl Cursor {
    pub(super) fn new(entries: &Entries) -> Self {
        let place = match entries {
            Entries::Map(map) => map.first_place(),
            Entries::Dict(dict) => dict.first_place(),
        };
        Self { place, left: entries.len() }
    }

    /// The next key and value.
    pub(super) fn next(&mut self, entries: &Entries) -> Option<(Any, Any)> {
        self.left = self.left.checked_sub(1)?;
        let place = self.place?;
        let entry = entries.entry(place);
        self.place = match entries {
            Entries::Map(map) => map.next_place(place),
            Entries::Dict(dict) => dict.next_place(place),
        };
        entry
    }
}
