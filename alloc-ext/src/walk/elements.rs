//! Arrays and Lists behind one interface, read in place while a walk holds them.

use ferrite_core::any::Any;
use ferrite_core::error::Result;
use ferrite_core::object::ObjectRef;
use ferrite_core::plain_error;

use super::maybe_owned::MaybeOwned;
use crate::containers::{ArrayObject, ListObject};

/// The elements of a sequence.
pub enum Elements<'w> {
    /// Those of an Array that is lent: they stay where they are.
    Borrowed(&'w [Any]),
    /// Those of any other sequence.
    Of(MaybeOwned<'w, ObjectRef>),
}

impl<'w> Elements<'w> {
    /// Those of an Array or List; none for other objects.
    pub fn of(sequence: MaybeOwned<'w, ObjectRef>) -> Self {
        match sequence.borrowed().and_then(ObjectRef::as_class).map(ArrayObject::as_slice) {
            Some(elements) => Self::Borrowed(elements),
            None => Self::Of(sequence),
        }
    }

    /// The elements as they lie in memory.
    ///
    /// # Safety
    /// Nobody changes a List while the slice is in use, so no code of users may run.
    #[inline]
    pub unsafe fn as_slice(&self) -> &[Any] {
        let sequence = match self {
            Self::Borrowed(elements) => return elements,
            Self::Of(sequence) => sequence,
        };
        match (sequence.as_class::<ArrayObject>(), sequence.as_class::<ListObject>()) {
            (Some(array), _) => array.as_slice(),
            // SAFETY: the caller's promise.
            (None, Some(list)) => unsafe { list.as_slice() },
            (None, None) => &[],
        }
    }

    /// Number of elements.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        // SAFETY: only the length is read.
        unsafe { self.as_slice() }.len()
    }

    /// An element, lent where the sequence is a lent Array.
    ///
    /// # Errors
    /// IndexError for one that is gone, because a hook made a List shorter.
    #[inline]
    pub fn get(&self, index: usize) -> Result<MaybeOwned<'w>> {
        if let Self::Borrowed(elements) = self
            && let Some(element) = elements.get(index)
        {
            return Ok(MaybeOwned::Borrowed(element));
        }
        // SAFETY: no code of users runs while the reference is made.
        match unsafe { self.as_slice() }.get(index) {
            Some(element) => Ok(MaybeOwned::Owned(element.clone())),
            None => Err(plain_error!(INDEX_ERROR, "Index {} out of bounds {}", index, self.len())),
        }
    }
}

/// The elements from a place on, where a hook may have made a List shorter.
#[cold]
pub fn rest_of(elements: &[Any], first: usize) -> &[Any] {
    elements.get(first..).unwrap_or_default()
}

/// The elements of a value that is an Array.
#[cfg(feature = "speed")]
#[inline(always)]
pub fn elements_of_array(value: &Any) -> Option<&[Any]> {
    value.as_object()?.as_class().map(ArrayObject::as_slice)
}
