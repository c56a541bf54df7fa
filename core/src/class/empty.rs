//! Initial values of fields, with which an object is created before its fields are set by name.

use core::marker::PhantomData;

use crate::error::Result;
use crate::object::ObjectRef;
use crate::plain_error;
use crate::value::any::Any;
use crate::value::convert::OpaquePtr;
use crate::value::string::Bytes;

use super::{Object, ObjectArc};

/// A type with an initial value. Objects start with the initial values of their fields where code
/// then sets the fields by name: when a graph is loaded, and in constructors that take all fields.
pub trait Empty: Sized {
    /// Creates the initial value. `depth` is the number of objects that contain it.
    ///
    /// # Errors
    /// RuntimeError if `depth` is too large, because an object contains an object of its own class;
    /// TypeError if the value is an object with a field that has no initial value; MemoryError.
    fn empty(depth: u8) -> Result<Self>;
}

impl<T: Default> Empty for T {
    fn empty(_: u8) -> Result<T> {
        Ok(T::default())
    }
}

impl Empty for Bytes {
    fn empty(_: u8) -> Result<Bytes> {
        Bytes::new(b"")
    }
}

/// Maximum depth of initial values.
const MAX_DEPTH: u8 = 16;

impl<T: Object> Empty for ObjectArc<T> {
    fn empty(depth: u8) -> Result<Self> {
        if depth == MAX_DEPTH {
            return Err(plain_error!(
                RUNTIME_ERROR,
                "The initial value of class `{}` contains itself",
                T::TYPE_KEY;
                "`{}` contains itself",
                T::TYPE_KEY
            ));
        }
        ObjectArc::new(T::empty(depth + 1)?)
    }
}

/// Function that creates an initial value at a depth.
pub type MakeEmpty<T> = fn(u8) -> Result<T>;

/// Constant access to the initial value of a type that may have none: `Probe::<T>::EMPTY`, for
/// concrete `T` and with [`ProbeFallback`] in scope.
pub struct Probe<T>(PhantomData<T>);

impl<T: Empty> Probe<T> {
    /// The initial value of the type.
    pub const EMPTY: Option<MakeEmpty<T>> = Some(T::empty);
}

impl<T: ZeroIsValid> ZeroProbe<T> {
    /// Whether zero bytes are a value of the type.
    pub const ZERO: bool = true;
}

/// The constant of [`Probe`] for types without an initial value: inherent constants take precedence
/// over it.
pub trait ProbeFallback {
    /// Type that is probed.
    type Value;

    /// `None`: the type has no initial value.
    const EMPTY: Option<MakeEmpty<Self::Value>> = None;
}

/// Constant access to whether zero bytes are a value of a type: `ZeroProbe::<T>::ZERO`, for
/// concrete `T` and with [`ZeroFallback`] in scope.
pub struct ZeroProbe<T>(PhantomData<T>);

/// The constant of [`ZeroProbe`] for types that do not implement [`ZeroIsValid`].
pub trait ZeroFallback {
    /// `false`: zero bytes are not known to be a value.
    const ZERO: bool = false;
}

impl<T> ZeroFallback for ZeroProbe<T> {}

/// A type of which zero bytes are a value. Other languages derive classes whose objects they
/// allocate as zeros only from classes with such fields.
///
/// # Safety
/// Zero bytes must be a value of the type, which can be dropped.
pub unsafe trait ZeroIsValid {}

macro_rules! zero_is_valid {
    ($($name:ty),*) => {$(
        // SAFETY: zero bytes are a number, `false`, a None or a null pointer.
        unsafe impl ZeroIsValid for $name {}
    )*};
}

zero_is_valid!(
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
    OpaquePtr,
    Any,
    Option<ObjectRef>
);

// SAFETY: references are transparent over a pointer that is not null, so zero bytes are `None`.
unsafe impl<T: Object> ZeroIsValid for Option<ObjectArc<T>> {}

impl<T> ProbeFallback for Probe<T> {
    type Value = T;
}

/// Creates the initial value of a field.
///
/// # Errors
/// TypeError if it has none; the errors of [`Empty::empty`].
pub fn initial<T>(make: Option<MakeEmpty<T>>, depth: u8, key: &str, field: &str) -> Result<T> {
    match make {
        Some(make) => make(depth),
        None => Err(plain_error!(
            TYPE_ERROR,
            "The field `{}` of class `{}` has no initial value: give it a default",
            field,
            key;
            "`{}` has no value",
            field
        )),
    }
}
