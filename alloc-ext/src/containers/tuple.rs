//! Tuples: arrays with a fixed number of elements, each of its own type.

use core::fmt;
use core::marker::PhantomData;

use ferrite_core::error::Result;
use ferrite_core::platform::text::Writer;
use ferrite_core::value::any::{Any, AnyView};
use ferrite_core::value::convert::{AnyCompatible, TypeText, Value};

use super::ArrayObject;
use super::convert::{is_a, referent};

/// The element types of a [`Tuple`]: Rust tuples of one to twelve [`Value`] types.
pub trait TupleTypes: Sized {
    /// Number of elements.
    const LEN: usize;

    /// Type names of the elements, for error messages and schemas.
    const TEXTS: &'static [&'static TypeText];

    /// Appends the elements to an array.
    ///
    /// # Errors
    /// MemoryError.
    fn push_to(self, array: &mut ArrayObject) -> Result<()>;

    /// Converts [`LEN`](Self::LEN) values to the element types; `None` if a value does not convert.
    ///
    /// # Errors
    /// MemoryError; errors of user hooks.
    fn convert(values: &[Any]) -> Result<Option<Self>>;

    /// Returns `true` if the values already have these types, without conversion.
    ///
    /// # Errors
    /// Errors of [`convert`](Self::convert).
    fn are(values: &[Any]) -> Result<bool>;

    /// Appends a description such as `Array[index 1: int]` of the first value that does not
    /// convert.
    fn describe(values: &[Any], out: &mut Writer<'_>);
}

macro_rules! tuple_types {
    ($($len:literal: $($index:tt $element:ident),*;)*) => {$(
        impl<$($element: Value),*> TupleTypes for ($($element,)*) {
            const LEN: usize = $len;

            const TEXTS: &'static [&'static TypeText] = &[$($element::TYPE),*];

            fn push_to(self, array: &mut ArrayObject) -> Result<()> {
                $(array.push(self.$index.try_into_any()?)?;)*
                Ok(())
            }

            fn convert(values: &[Any]) -> Result<Option<Self>> {
                Ok(Some(($(
                    match values.get($index).map(Any::try_get::<$element>).transpose()?.flatten() {
                        Some(value) => value,
                        None => return Ok(None),
                    },
                )*)))
            }

            fn are(values: &[Any]) -> Result<bool> {
                if values.len() != $len {
                    return Ok(false);
                }
                $(
                    if !is_a::<$element>(&values[$index])? {
                        return Ok(false);
                    }
                )*
                Ok(true)
            }

            fn describe(values: &[Any], out: &mut Writer<'_>) {
                out.put(b"Array");
                $(
                    if let Some(value) = values.get($index)
                        && !matches!(value.try_get::<$element>(), Ok(Some(_)))
                    {
                        out.put(b"[index ");
                        out.put_unsigned($index);
                        out.put(b": ");
                        $element::describe(value.view(), out);
                        return out.put(b"]");
                    }
                )*
            }
        }
    )*};
}

tuple_types! {
    1: 0 A;
    2: 0 A, 1 B;
    3: 0 A, 1 B, 2 C;
    4: 0 A, 1 B, 2 C, 3 D;
    5: 0 A, 1 B, 2 C, 3 D, 4 E;
    6: 0 A, 1 B, 2 C, 3 D, 4 E, 5 F;
    7: 0 A, 1 B, 2 C, 3 D, 4 E, 5 F, 6 G;
    8: 0 A, 1 B, 2 C, 3 D, 4 E, 5 F, 6 G, 7 H;
    9: 0 A, 1 B, 2 C, 3 D, 4 E, 5 F, 6 G, 7 H, 8 I;
    10: 0 A, 1 B, 2 C, 3 D, 4 E, 5 F, 6 G, 7 H, 8 I, 9 J;
    11: 0 A, 1 B, 2 C, 3 D, 4 E, 5 F, 6 G, 7 H, 8 I, 9 J, 10 K;
    12: 0 A, 1 B, 2 C, 3 D, 4 E, 5 F, 6 G, 7 H, 8 I, 9 J, 10 K, 11 L;
}

/// A reference to an array with one element of each type in the Rust tuple `T`.
///
/// # Examples
/// ```
/// use ferrite_alloc_ext::containers::Tuple;
/// use ferrite_core::{Any, String};
///
/// # fn main() -> ferrite_core::Result<()> {
/// let pair = Tuple::new((String::new("x")?, 2i64))?;
/// let value = Any::new(pair);
/// let (name, number) = value.get::<Tuple<(String, f64)>>()?.get()?;
/// assert_eq!((name.as_str(), number), (Some("x"), 2.0));
/// assert!(value.get::<Tuple<(String,)>>().is_err());
/// # Ok(())
/// # }
/// ```
pub struct Tuple<T> {
    object: ArrayObject,
    elements: PhantomData<T>,
}

impl<T: TupleTypes> Tuple<T> {
    /// Creates a tuple with the given elements.
    ///
    /// # Errors
    /// MemoryError.
    pub fn new(elements: T) -> Result<Self> {
        let mut object = ArrayObject::with_capacity(T::LEN)?;
        elements.push_to(&mut object)?;
        Ok(Self { object, elements: PhantomData })
    }

    /// Returns all elements as a Rust tuple.
    ///
    /// # Errors
    /// TypeError if C code stored an element of another type; MemoryError.
    pub fn get(&self) -> Result<T> {
        match T::convert(self.object.as_slice())? {
            Some(elements) => Ok(elements),
            None => {
                ferrite_core::plain_bail!(TYPE_ERROR, "An element of the tuple is of another type")
            }
        }
    }

    /// Returns the underlying array.
    pub fn as_untyped(&self) -> &ArrayObject {
        &self.object
    }
}

impl<T> Clone for Tuple<T> {
    fn clone(&self) -> Self {
        Self { object: self.object.clone(), elements: PhantomData }
    }
}

impl<T> fmt::Debug for Tuple<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.object.as_slice()).finish()
    }
}

ferrite_core::any_argument!([T: TupleTypes] Tuple<T>;);

// SAFETY: view and into_any return the value's own reference, as the trait requires.
unsafe impl<T: TupleTypes> AnyCompatible for Tuple<T> {
    const TEXT: &'static TypeText = &TypeText::generic("Tuple", "Tuple", T::TEXTS);

    fn view(&self) -> AnyView<'_> {
        self.object.view()
    }

    fn into_any(self) -> Any {
        self.object.into_any()
    }

    fn try_from_view(view: AnyView<'_>) -> Result<Option<Self>> {
        let Some(object) = ArrayObject::try_from_view(referent(view))? else {
            return Ok(None);
        };
        if object.len() != T::LEN {
            return Ok(None);
        }
        if T::are(object.as_slice())? {
            return Ok(Some(Self { object, elements: PhantomData }));
        }
        T::convert(object.as_slice())?.map(Self::new).transpose()
    }

    fn describe_mismatch(view: AnyView<'_>, out: &mut Writer<'_>) {
        match ArrayObject::try_from_view(referent(view)) {
            Ok(Some(object)) if object.len() == T::LEN => T::describe(object.as_slice(), out),
            Ok(Some(object)) => {
                out.put(b"Array[size=");
                out.put_unsigned(object.len() as u64);
                out.put(b"]");
            }
            _ => ArrayObject::describe_mismatch(view, out),
        }
    }
}
