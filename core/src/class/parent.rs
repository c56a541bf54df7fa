//! The parent of a class, for the code of `derive(Object)`. A parent that is not a class is one
//! error, that of [`DerivedFrom`], since the rest of the code compiles with [`NotAClass`].
//!
//! [`DerivedFrom`]: super::DerivedFrom

use core::marker::PhantomData;

use super::{Class, Object};
use crate::error::Result;

/// Access to a parent class: `ParentOf::<T>::CLASS`, for concrete `T` and with [`NotAClass`] in
/// scope.
pub struct ParentOf<T>(PhantomData<T>);

impl<T: Object> ParentOf<T> {
    /// Function that returns the static description of the class.
    pub const CLASS: fn() -> &'static Class = T::class;
    /// Whether objects of the class may be borrowed exclusively.
    pub const MUTABLE: Option<bool> = Some(T::MUTABLE);
    /// Whether every field has an initial value.
    pub const HAS_EMPTY: bool = T::HAS_EMPTY;
    /// Whether objects may be copied.
    pub const COPIES: bool = T::COPIES;
    /// Function that creates content with initial values.
    pub const EMPTY: fn(u8) -> Result<T> = T::empty;
    /// Function that copies content; it returns `None` if content cannot be copied.
    pub const COPY: fn(&T) -> Option<T> = T::shallow_copy;
}

/// The constants of [`ParentOf`] for types that are not classes: inherent constants take precedence
/// over them.
pub trait NotAClass {
    /// Type that is named as the parent.
    type Content;

    /// Placeholder, which is never called.
    const CLASS: fn() -> &'static Class = || unreachable!();
    /// `None`: compatible with mutable and immutable classes.
    const MUTABLE: Option<bool> = None;
    /// `false`: no field is known to have an initial value.
    const HAS_EMPTY: bool = false;
    /// `false`: objects cannot be copied.
    const COPIES: bool = false;
    /// Placeholder, which is never called.
    const EMPTY: fn(u8) -> Result<Self::Content> = |_| unreachable!();
    /// Placeholder, which is never called.
    const COPY: fn(&Self::Content) -> Option<Self::Content> = |_| None;
}

impl<T> NotAClass for ParentOf<T> {
    type Content = T;
}
