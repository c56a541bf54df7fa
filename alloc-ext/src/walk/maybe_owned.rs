//! Values on the way of a walk: borrowed where nothing can release them meanwhile, otherwise owned.
#![forbid(unsafe_code)]

use core::ops::Deref;

use ferrite_core::any::Any;
use ferrite_core::object::ObjectRef;
use ferrite_core::{type_index, words};

/// A value or object that a walk has got to.
///
/// What lies in Arrays and Maps only, from the value on that the caller lends, cannot change while the walk lasts,
/// whatever hooks do: it is lent, too, which costs nothing. All else is held by a reference of its own.
pub enum MaybeOwned<'w, T = Any> {
    /// Lent for the whole walk.
    Borrowed(&'w T),
    /// A reference of the walk's own.
    Owned(T),
}

impl<'w> MaybeOwned<'w> {
    /// The object of a value; None for a value that is none.
    #[inline]
    pub fn into_object(self) -> Option<MaybeOwned<'w, ObjectRef>> {
        match self {
            Self::Borrowed(value) => value.as_object().map(MaybeOwned::Borrowed),
            Self::Owned(value) => value.into_object().ok().map(MaybeOwned::Owned),
        }
    }
}

impl<'w, T> MaybeOwned<'w, T> {
    /// The value, if it is lent for the whole walk.
    #[inline]
    pub fn borrowed(&self) -> Option<&'w T> {
        match self {
            Self::Borrowed(value) => Some(value),
            Self::Owned(_) => None,
        }
    }
}

impl MaybeOwned<'_, ObjectRef> {
    /// Whether only the way by which the walk has come leads to the object, so that it is not met again.
    #[inline]
    pub fn is_unshared(&self) -> bool {
        self.borrowed().is_some_and(ObjectRef::is_unique)
    }

    /// The same for objects of which the walk holds a reference, as far as counts tell: a getter that gives one object for
    /// several fields hides that it is shared.
    #[inline]
    pub fn is_unshared_by_count(&self) -> bool {
        match self {
            Self::Borrowed(object) => object.is_unique(),
            Self::Owned(object) => is_unshared_while_owned(object),
        }
    }
}

impl<T: Clone> MaybeOwned<'_, T> {
    /// A reference of its own, which keeps the object alive beyond the walk.
    pub fn into_owned(self) -> T {
        match self {
            Self::Borrowed(value) => value.clone(),
            Self::Owned(value) => value,
        }
    }
}

impl<T> Deref for MaybeOwned<'_, T> {
    type Target = T;

    #[cfg_attr(feature = "speed", inline(always))]
    fn deref(&self) -> &T {
        match self {
            Self::Borrowed(value) => value,
            Self::Owned(value) => value,
        }
    }
}

/// Whether one reference leads to an object beside that of the walk.
#[inline]
pub fn is_unshared_while_owned(object: &ObjectRef) -> bool {
    object.strong_count() <= 2 && object.weak_count() == 1
}

/// Whether two values are equal for sure, being numbers or texts in the same form.
#[cfg_attr(feature = "speed", inline(always))]
pub fn same_number_or_text(lhs: &Any, rhs: &Any) -> bool {
    let (left, right) = (lhs.as_raw(), rhs.as_raw());
    if left.type_index != right.type_index {
        return false;
    }
    if left.type_index < type_index::STATIC_OBJECT_BEGIN {
        return left.small_str_len == right.small_str_len
            && lhs.view().payload_bits() == rhs.view().payload_bits();
    }
    left.type_index == type_index::STR && same_content(lhs, rhs)
}

#[inline]
fn same_content(lhs: &Any, rhs: &Any) -> bool {
    match (lhs.view().content_of_object(), rhs.view().content_of_object()) {
        (Some(left), Some(right)) => words::are_same(left, right),
        _ => false,
    }
}
