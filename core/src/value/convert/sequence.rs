//! Rust sequences as values: Arrays, or bytes if the elements are `u8`. Arrays of fixed length need
//! no allocator on the Rust side, `Vec<T>` and `Box<[T]>` need the feature `alloc`.
#![forbid(unsafe_code)]

use super::{Described, IntoAny, TypeText};
use crate::error::Result;
use crate::value::any::Any;
use crate::value::any::AnyView;
use crate::value::sequence::{self, Builder, as_bytes};

/// Returns whether all elements of an Array or List convert to `T`.
fn all_accepted<T: Described>(view: &AnyView<'_>) -> bool {
    (0..)
        .map_while(|index| sequence::element(view, index).transpose())
        .all(|element| element.is_ok_and(|element| T::accepts(element.as_view())))
}

/// Creates an Array of `len` values, which an iterator yields.
fn array_of<T: IntoAny>(len: usize, values: impl Iterator<Item = T>) -> Result<Any> {
    let mut builder = Builder::new(len)?;
    for value in values {
        builder.push(value.try_into_any()?)?;
    }
    Ok(builder.finish())
}

impl<T: Described, const N: usize> Described for [T; N] {
    const TYPE: &'static TypeText = &TypeText::generic("Array", "ffi.Array", &[T::TYPE]);

    fn accepts(view: &AnyView<'_>) -> bool {
        sequence::len(view) == Some(N) && all_accepted::<T>(view)
    }
}

impl<T: IntoAny, const N: usize> IntoAny for [T; N] {
    fn try_into_any(self) -> Result<Any> {
        array_of(N, self.into_iter())
    }
}

/// Creates an Array with clones of a slice, or bytes of a slice of `u8`.
pub(crate) fn of_slice<T: IntoAny + Clone + 'static>(values: &[T]) -> Result<Any> {
    if let Some(bytes) = as_bytes(values) {
        return crate::value::string::Bytes::new(bytes).map(Any::from);
    }
    array_of(values.len(), values.iter().cloned())
}

#[cfg(feature = "alloc")]
mod owned {
    use alloc::boxed::Box;
    use alloc::vec::Vec;

    use super::{all_accepted, array_of};
    use crate::abi::type_index;
    use crate::error::{Result, out_of_memory};
    use crate::platform::text::Writer;
    use crate::value::any::{Any, AnyView};
    use crate::value::convert::value::owned_param;
    use crate::value::convert::{AnyCompatible, Described, FromAny, FromView, IntoAny, TypeText};
    use crate::value::sequence;
    use crate::value::string::Bytes;

    impl<T: Described> Described for Vec<T> {
        const TYPE: &'static TypeText = if T::IS_BYTE {
            Bytes::TEXT
        } else {
            &TypeText::generic("Array", "ffi.Array", &[T::TYPE])
        };

        fn accepts(view: &AnyView<'_>) -> bool {
            T::IS_BYTE && view.bytes_of_bytes().is_some()
                || sequence::len(view).is_some() && all_accepted::<T>(view)
        }

        fn describe(view: AnyView<'_>, out: &mut Writer<'_>) {
            if sequence::len(&view).is_none() {
                return crate::value::convert::describe_type(view, out);
            }
            out.put(b"Array");
            for index in 0.. {
                let Ok(Some(element)) = sequence::element(&view, index) else { return };
                if !T::accepts(element.as_view()) {
                    out.put(b"[index ");
                    out.put_unsigned(index as u64);
                    out.put(b": ");
                    T::describe(element.view(), out);
                    return out.put(b"]");
                }
            }
        }
    }

    impl<'a, T: FromAny> FromView<'a> for Vec<T> {
        fn from_view(view: &'a AnyView<'a>) -> Result<Option<Self>> {
            let mut values = Vec::new();
            if T::IS_BYTE
                && let Some(bytes) = view.bytes_of_bytes()
            {
                reserve(&mut values, bytes.len())?;
                for byte in bytes {
                    let byte = Any::from(*byte);
                    let Some(byte) = T::from_view(byte.as_view())? else { return Ok(None) };
                    values.push(byte);
                }
                return Ok(Some(values));
            }
            let Some(len) = sequence::len(view) else { return Ok(None) };
            reserve(&mut values, len)?;
            let converts = sequence::for_each(view, |element| {
                let Some(element) = T::from_view(element)? else { return Ok(false) };
                values.push(element);
                Ok(true)
            })?;
            Ok((converts == Some(true)).then_some(values))
        }

        fn is_exact(view: &'a AnyView<'a>) -> Result<bool> {
            if T::IS_BYTE {
                return Ok(matches!(
                    view.type_index(),
                    type_index::BYTES | type_index::SMALL_BYTES
                ));
            }
            if !sequence::is_array(view) {
                return Ok(false);
            }
            Ok(sequence::for_each(view, |element| T::is_exact(element))? == Some(true))
        }
    }

    fn reserve<T>(values: &mut Vec<T>, len: usize) -> Result<()> {
        values.try_reserve_exact(len).map_err(|_| out_of_memory(len.saturating_mul(size_of::<T>())))
    }

    owned_param!([T: FromAny] Vec<T>);

    impl<T: IntoAny + 'static> IntoAny for Vec<T> {
        fn try_into_any(self) -> Result<Any> {
            if let Some(bytes) = sequence::as_bytes(&self) {
                return Bytes::new(bytes).map(Any::from);
            }
            array_of(self.len(), self.into_iter())
        }
    }

    impl<T: Described> Described for Box<[T]> {
        const TYPE: &'static TypeText = Vec::<T>::TYPE;

        fn accepts(view: &AnyView<'_>) -> bool {
            Vec::<T>::accepts(view)
        }

        fn describe(view: AnyView<'_>, out: &mut Writer<'_>) {
            Vec::<T>::describe(view, out);
        }
    }

    impl<'a, T: FromAny> FromView<'a> for Box<[T]> {
        fn from_view(view: &'a AnyView<'a>) -> Result<Option<Self>> {
            Ok(Vec::from_view(view)?.map(Vec::into_boxed_slice))
        }

        fn is_exact(view: &'a AnyView<'a>) -> Result<bool> {
            Vec::<T>::is_exact(view)
        }
    }

    owned_param!([T: FromAny] Box<[T]>);

    impl<T: IntoAny + 'static> IntoAny for Box<[T]> {
        fn try_into_any(self) -> Result<Any> {
            self.into_vec().try_into_any()
        }
    }
}
