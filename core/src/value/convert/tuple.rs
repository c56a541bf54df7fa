//! Rust tuples as values: Arrays with one element of each type.
#![forbid(unsafe_code)]

use super::value::owned_param;
use super::{Described, FromAny, FromView, IntoAny, TypeText};
use crate::error::Result;
use crate::platform::text::Writer;
use crate::value::any::{Any, AnyView};
use crate::value::sequence::{self, Builder};

/// Whether a value converts to the type of an element, and what to write if it does not.
type Element = (fn(&AnyView<'_>) -> bool, fn(AnyView<'_>, &mut Writer<'_>));

/// Writes the type and position of the first element that does not convert, or the number of
/// elements if it is wrong.
fn describe(view: AnyView<'_>, elements: &[Element], out: &mut Writer<'_>) {
    let Some(len) = sequence::len(&view) else { return super::describe_type(view, out) };
    out.put(b"Array");
    if len != elements.len() {
        out.put(b"[size=");
        out.put_unsigned(len as u64);
        return out.put(b"]");
    }
    for (index, (accepts, describe)) in elements.iter().enumerate() {
        let Ok(Some(element)) = sequence::element(&view, index) else { return };
        if !accepts(element.as_view()) {
            out.put(b"[index ");
            out.put_unsigned(index as u64);
            out.put(b": ");
            describe(element.view(), out);
            return out.put(b"]");
        }
    }
}

macro_rules! tuples {
    ($($len:literal: $($index:tt $element:ident),*;)*) => {$(
        impl<$($element: Described),*> Described for ($($element,)*) {
            const TYPE: &'static TypeText = &TypeText::generic("Tuple", "Tuple", &[$($element::TYPE),*]);

            fn accepts(view: &AnyView<'_>) -> bool {
                sequence::len(view) == Some($len)
                    $(&& matches!(sequence::element(view, $index), Ok(Some(element)) if $element::accepts(element.as_view())))*
            }

            fn describe(view: AnyView<'_>, out: &mut Writer<'_>) {
                describe(view, &[$(($element::accepts, $element::describe)),*], out);
            }
        }

        impl<'a, $($element: FromAny),*> FromView<'a> for ($($element,)*) {
            fn from_view(view: &'a AnyView<'a>) -> Result<Option<Self>> {
                if sequence::len(view) != Some($len) {
                    return Ok(None);
                }
                Ok(Some(($({
                    let Some(element) = sequence::element(view, $index)? else { return Ok(None) };
                    let Some(element) = $element::from_view(element.as_view())? else { return Ok(None) };
                    element
                },)*)))
            }

            fn is_exact(view: &'a AnyView<'a>) -> Result<bool> {
                if !sequence::is_array(view) || sequence::len(view) != Some($len) {
                    return Ok(false);
                }
                $(
                    let Some(element) = sequence::element(view, $index)? else { return Ok(false) };
                    if !$element::is_exact(element.as_view())? {
                        return Ok(false);
                    }
                )*
                Ok(true)
            }
        }

        owned_param!([$($element: FromAny),*] ($($element,)*));

        impl<$($element: IntoAny),*> IntoAny for ($($element,)*) {
            fn try_into_any(self) -> Result<Any> {
                let mut builder = Builder::new($len)?;
                $(builder.push(self.$index.try_into_any()?)?;)*
                Ok(builder.finish())
            }
        }
    )*};
}

tuples! {
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
