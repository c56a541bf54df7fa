//! Values reached by a walk: borrowed if nothing can release them during the walk, otherwise owned.
#![forbid(unsafe_code)]

use core::ops::Deref;

use ferrite_core::abi::type_index;
use ferrite_core::object::ObjectRef;
use ferrite_core::platform::words;
use ferrite_core::value::any::Any;

/// A value or object that a walk has reached.
///
/// Values reachable from the caller's borrowed value through Arrays and Maps alone stay alive and
/// unchanged during the walk, whatever hooks do, and are borrowed. For all other values the walk
/// owns a reference.
pub enum MaybeOwned<'w, T = Any> {
    /// Borrowed from the caller's value for the whole walk.
    Borrowed(&'w T),
    /// Owned by the walk through its own reference.
    Owned(T),
}

impl<'w> MaybeOwned<'w> {
    /// Returns the object; `None` for a value that is not an object.
    #[inline]
    pub fn into_object(self) -> Option<MaybeOwned<'w, ObjectRef>> {
        match self {
            Self::Borrowed(value) => value.as_object().map(MaybeOwned::Borrowed),
            Self::Owned(value) => value.into_object().ok().map(MaybeOwned::Owned),
        }
    }
}

impl<'w, T> MaybeOwned<'w, T> {
    /// Returns the value if it is borrowed for the whole walk; `None` if it is owned.
    #[inline]
    pub fn borrowed(&self) -> Option<&'w T> {
        match self {
            Self::Borrowed(value) => Some(value),
            Self::Owned(_) => None,
        }
    }
}

impl MaybeOwned<'_, ObjectRef> {
    /// Returns `true` if the object has only one reference, so that the walk cannot reach it on
    /// another path. Always `false` for an owned object.
    #[inline]
    pub fn is_unshared(&self) -> bool {
        self.borrowed().is_some_and(ObjectRef::is_unique)
    }

    /// Returns `true` if the reference counts of the object show no reference besides the path of
    /// the walk, for borrowed and for owned objects. Not exact: a getter that returns one object
    /// for several fields hides that the object is shared.
    #[inline]
    pub fn is_unshared_by_count(&self) -> bool {
        match self {
            Self::Borrowed(object) => object.is_unique(),
            Self::Owned(object) => is_unshared_besides_walk(object),
        }
    }
}

impl<T: Clone> MaybeOwned<'_, T> {
    /// Converts into an owned value, which may outlive the walk.
    pub fn into_owned(self) -> T {
        match self {
            Self::Borrowed(value) => value.clone(),
            Self::Owned(value) => value,
        }
    }
}

impl<T> Deref for MaybeOwned<'_, T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        match self {
            Self::Borrowed(value) => value,
            Self::Owned(value) => value,
        }
    }
}

/// Returns `true` if an object has at most one strong reference besides the walk's own, and no weak
/// reference.
#[inline]
pub fn is_unshared_besides_walk(object: &ObjectRef) -> bool {
    object.strong_count() <= 2 && object.weak_count() == 1
}

/// Returns `true` if two values are bitwise identical inline values, or heap strings with equal
/// content. `false` does not mean that they differ.
#[inline(always)]
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
