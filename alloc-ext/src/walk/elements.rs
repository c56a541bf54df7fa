//! Common read access to the elements of Arrays and Lists during a walk, in place.

use ferrite_core::error::Result;
use ferrite_core::object::ObjectRef;
use ferrite_core::plain_error;
use ferrite_core::value::any::Any;

use super::maybe_owned::MaybeOwned;
use crate::containers::{ArrayObject, BorrowedElements, ListObject};

/// Elements of an Array or List.
pub enum Elements<'w> {
    /// Elements of a borrowed Array, which cannot change during the walk.
    Borrowed(&'w [Any]),
    /// Any other sequence, kept alive by a reference.
    Of(MaybeOwned<'w, ObjectRef>),
}

impl<'w> Elements<'w> {
    /// Creates access to the elements of an Array or List. Any other object has no elements.
    pub fn of(sequence: MaybeOwned<'w, ObjectRef>) -> Self {
        match sequence.borrowed().and_then(ObjectRef::as_class).map(ArrayObject::as_slice) {
            Some(elements) => Self::Borrowed(elements),
            None => Self::Of(sequence),
        }
    }

    /// Borrows the elements in place. A List is borrowed until the slice is dropped, so no user
    /// callback should run meanwhile.
    ///
    /// # Errors
    /// RuntimeError if another thread is changing the List.
    #[inline]
    pub(crate) fn as_slice(&self) -> Result<BorrowedElements<'_>> {
        let sequence = match self {
            Self::Borrowed(elements) => return Ok((*elements).into()),
            Self::Of(sequence) => sequence,
        };
        match (sequence.as_class::<ArrayObject>(), sequence.as_class::<ListObject>()) {
            (Some(array), _) => Ok(array.as_slice().into()),
            (None, Some(list)) => list.elements(),
            (None, None) => Ok([].as_slice().into()),
        }
    }

    /// Returns the number of elements.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        let sequence = match self {
            Self::Borrowed(elements) => return elements.len(),
            Self::Of(sequence) => sequence,
        };
        match (sequence.as_class::<ArrayObject>(), sequence.as_class::<ListObject>()) {
            (Some(array), _) => array.len(),
            (None, Some(list)) => list.len(),
            (None, None) => 0,
        }
    }

    /// Returns an element, borrowed if the sequence is a borrowed Array.
    ///
    /// # Errors
    /// IndexError if the index is out of bounds, for example because a hook shortened the List;
    /// RuntimeError if another thread is changing the List.
    #[inline]
    pub fn get(&self, index: usize) -> Result<MaybeOwned<'w>> {
        if let Self::Borrowed(elements) = self
            && let Some(element) = elements.get(index)
        {
            return Ok(MaybeOwned::Borrowed(element));
        }
        match self.as_slice()?.get(index) {
            Some(element) => Ok(MaybeOwned::Owned(element.clone())),
            None => Err(plain_error!(INDEX_ERROR, "Index {} out of bounds {}", index, self.len())),
        }
    }
}

/// Returns the elements from index `first` on; empty if there are fewer, for example because a hook
/// shortened the List.
#[cold]
pub fn rest_of(elements: &[Any], first: usize) -> &[Any] {
    elements.get(first..).unwrap_or_default()
}

/// Returns the elements of an Array in place; `None` for other values.
#[inline(always)]
pub fn elements_of_array(value: &Any) -> Option<&[Any]> {
    value.as_object()?.as_class().map(ArrayObject::as_slice)
}
