//! Arrays and Lists, Maps and Dicts, each pair behind one face: read in place while a walk holds them.

use core::mem;

use ferrite_core::any::{Any, AnyView};
use ferrite_core::convert::AnyCompatible;
use ferrite_core::error::Result;
use ferrite_core::object::{ObjectClass, ObjectRef};
use ferrite_core::{error, type_index};

use super::compare_leaf::same_number_or_text;
use super::hash_leaf::hash_plain;
use crate::containers::{ArrayObject, DictObject, ListObject, MapObject};
use crate::dataclass::combine;

/// The reference that a value of exactly this class holds.
fn into_class<T: ObjectClass + AnyCompatible>(value: Any) -> Result<T> {
    match value.view().object_ptr() {
        Some(object) if value.type_index() == T::type_index() => {
            mem::forget(value);
            // SAFETY: the value held one strong reference, which is ours now; its type index is that of the class.
            Ok(unsafe { T::from_object_unchecked(ObjectRef::from_raw(object)) })
        }
        _ => value.get(),
    }
}

/// The elements of a sequence.
pub(super) enum Elements {
    Array(ArrayObject),
    List(ListObject),
}

impl Elements {
    /// Those of an Array or List; an error for other values.
    pub(super) fn of(value: Any) -> Result<Self> {
        match value.type_index() {
            type_index::ARRAY => into_class(value).map(Self::Array),
            _ => into_class(value).map(Self::List),
        }
    }

    /// The elements as they lie in memory.
    ///
    /// # Safety
    ///
    /// Nobody changes a List while the slice is in use, so no code of users may run.
    unsafe fn as_slice(&self) -> &[Any] {
        match self {
            Self::Array(array) => array.as_slice(),
            // SAFETY: the caller's promise.
            Self::List(list) => unsafe { list.as_slice() },
        }
    }

    /// The first place from `from` on where the two do not have the same number or text.
    pub(super) fn skip_same(&self, other: &Self, from: usize) -> usize {
        // SAFETY: only numbers and texts are compared here, and containers belong to one thread at a time.
        let (lhs, rhs) = unsafe { (self.as_slice(), other.as_slice()) };
        let (lhs, rhs) = (lhs.get(from..).unwrap_or_default(), rhs.get(from..).unwrap_or_default());
        from + lhs.iter().zip(rhs).take_while(|(lhs, rhs)| same_number_or_text(lhs, rhs)).count()
    }

    /// Takes numbers and texts from place `from` on into a hash, and gives the place and the hash where they end.
    pub(super) fn hash_plain(&self, from: usize, to: usize, mut hash: u64) -> (usize, u64) {
        // SAFETY: only numbers and texts are read here, and containers belong to one thread at a time.
        let elements = unsafe { self.as_slice() };
        let mut end = from;
        for element in elements.get(from..to.min(elements.len())).unwrap_or_default() {
            let Some(next) = hash_plain(element) else { break };
            hash = combine(hash, next);
            end += 1;
        }
        (end, hash)
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
    pub(super) fn of(value: Any) -> Result<Self> {
        match value.type_index() {
            type_index::MAP => into_class(value).map(Self::Map),
            _ => into_class(value).map(Self::Dict),
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
