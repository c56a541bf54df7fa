//! Types of fields whose memory other languages and other binaries read and write in place.

use core::ffi::c_void;
use core::marker::PhantomData;

use crate::abi::{DLDataType, DLDevice};
use crate::call::function::Function;
use crate::error::Error;
use crate::object::ObjectRef;
use crate::tensor::Tensor;
use crate::value::any::Any;
use crate::value::big_int::BigInt;
use crate::value::shape::Shape;
use crate::value::string::{Bytes, String};

use super::elsewhere::FieldLayout;
use super::{Class, Object, ObjectArc};

/// A type with the same representation in memory in every language: a number, an [`Any`], a string,
/// a reference. A class that is defined elsewhere can have fields of these types only.
///
/// # Safety
/// A value must have the ABI's representation of the type that
/// [`Described::TYPE`](crate::value::convert::Described::TYPE) names, including the element types
/// of containers. If `ZERO` is `true`, zero bytes and every bit pattern that C++ code stores in a
/// field of this type must be valid values.
pub unsafe trait AbiField {
    /// Whether zero bytes are a value, such as 0, None or a null reference.
    const ZERO: bool;

    /// The class whose content is accessible without a further check; `None` for other types.
    const CLASS: Option<fn() -> &'static Class> = None;
}

/// A reference to an object, never null. `Option` of it is the reference that may be null.
///
/// # Safety
/// The type must be a transparent newtype over [`ObjectRef`].
pub unsafe trait AbiReference: AbiField {}

macro_rules! plain {
    ($($name:ty),*) => {$(
        // SAFETY: a number of the declared kind, a pointer, or a cell; every language has it in
        // this form.
        unsafe impl AbiField for $name {
            const ZERO: bool = true;
        }
    )*};
}

plain!(
    i64,
    u64,
    i32,
    u32,
    i16,
    u16,
    i8,
    u8,
    isize,
    usize,
    f64,
    f32,
    bool,
    *mut c_void,
    DLDataType,
    DLDevice,
    Any
);

macro_rules! strings {
    ($($name:ty),*) => {$(
        // SAFETY: transparent over a cell, which is never zero.
        unsafe impl AbiField for $name {
            const ZERO: bool = false;
        }
    )*};
}

strings!(String, Bytes);

macro_rules! references {
    ($($name:ty),*) => {$(
        // SAFETY: a pointer to an object of the declared type.
        unsafe impl AbiField for $name {
            const ZERO: bool = false;
        }

        // SAFETY: a newtype over the reference.
        unsafe impl AbiReference for $name {}
    )*};
}

references!(ObjectRef, Function, Tensor, Shape, Error, BigInt);

// SAFETY: a pointer to an object; the class is verified before fields of the type are.
unsafe impl<T: Object> AbiField for ObjectArc<T> {
    const ZERO: bool = false;
    const CLASS: Option<fn() -> &'static Class> = Some(T::class);
}

// SAFETY: a newtype over the reference.
unsafe impl<T: Object> AbiReference for ObjectArc<T> {}

// SAFETY: zero bytes are `None`, since references are not null; upstream's `Optional` of a
// reference is the same.
unsafe impl<T: AbiReference> AbiField for Option<T> {
    const ZERO: bool = true;
    const CLASS: Option<fn() -> &'static Class> = T::CLASS;
}

/// Constant access to the layout of a type that may have none: `LayoutProbe::<T>::LAYOUT`, for
/// concrete `T` and with [`LayoutFallback`] in scope.
pub struct LayoutProbe<T>(PhantomData<T>);

impl<T: AbiField> LayoutProbe<T> {
    /// Layout of the type.
    pub const LAYOUT: Option<FieldLayout> = Some(FieldLayout::of::<T>());
}

/// The constant of [`LayoutProbe`] for other types: inherent constants take precedence over it.
pub trait LayoutFallback {
    /// `None`: the type has no layout that other languages know.
    const LAYOUT: Option<FieldLayout> = None;
}

impl<T> LayoutFallback for LayoutProbe<T> {}
