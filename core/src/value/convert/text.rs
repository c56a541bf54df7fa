//! Rust strings and bytes as values: `&str`, `char`, `&[u8]`, and owned strings with the feature
//! `alloc`.
#![forbid(unsafe_code)]

use super::value::owned_param;
use super::{AnyCompatible, Described, FromView, IntoAny, Param, TypeText};
use crate::abi::type_index;
use crate::error::Result;
use crate::plain_error;
use crate::value::any::{Any, AnyView};
use crate::value::string;

/// Reads the text of a string. Returns `None` for other values.
///
/// # Errors
/// ValueError if the bytes are not UTF-8.
fn text_of<'a>(view: &'a AnyView<'_>) -> Result<Option<&'a str>> {
    let Some(bytes) = view.bytes_of_string() else { return Ok(None) };
    match core::str::from_utf8(bytes) {
        Ok(text) => Ok(Some(text)),
        Err(error) => Err(error.into()),
    }
}

fn is_owned_text(view: &AnyView<'_>) -> bool {
    matches!(view.type_index(), type_index::STR | type_index::SMALL_STR)
}

impl Described for &str {
    const TYPE: &'static TypeText = string::String::TEXT;

    fn accepts(view: &AnyView<'_>) -> bool {
        matches!(text_of(view), Ok(Some(_)))
    }
}

impl<'a> FromView<'a> for &'a str {
    fn from_view(view: &'a AnyView<'a>) -> Result<Option<&'a str>> {
        text_of(view)
    }

    fn is_exact(view: &'a AnyView<'a>) -> Result<bool> {
        Ok(is_owned_text(view))
    }
}

impl Param for &str {
    type In<'a> = &'a str;

    fn param<'a>(view: &'a AnyView<'a>) -> Result<Option<&'a str>> {
        text_of(view)
    }
}

impl IntoAny for &str {
    fn try_into_any(self) -> Result<Any> {
        string::String::new(self).map(Any::from)
    }
}

impl Described for &[u8] {
    const TYPE: &'static TypeText = string::Bytes::TEXT;

    fn accepts(view: &AnyView<'_>) -> bool {
        view.bytes_of_bytes().is_some()
    }
}

impl<'a> FromView<'a> for &'a [u8] {
    fn from_view(view: &'a AnyView<'a>) -> Result<Option<&'a [u8]>> {
        Ok(view.bytes_of_bytes())
    }

    fn is_exact(view: &'a AnyView<'a>) -> Result<bool> {
        Ok(matches!(view.type_index(), type_index::BYTES | type_index::SMALL_BYTES))
    }
}

impl Param for &[u8] {
    type In<'a> = &'a [u8];

    fn param<'a>(view: &'a AnyView<'a>) -> Result<Option<&'a [u8]>> {
        Ok(view.bytes_of_bytes())
    }
}

/// A string of one character.
impl Described for char {
    const TYPE: &'static TypeText = string::String::TEXT;

    fn accepts(view: &AnyView<'_>) -> bool {
        matches!(text_of(view), Ok(Some(_)))
    }
}

impl<'a> FromView<'a> for char {
    fn from_view(view: &'a AnyView<'a>) -> Result<Option<char>> {
        let Some(text) = text_of(view)? else { return Ok(None) };
        let mut characters = text.chars();
        match (characters.next(), characters.next()) {
            (Some(character), None) => Ok(Some(character)),
            _ => Err(
                plain_error!(VALUE_ERROR, "expected a string of one character, got `{}`", text; "no character"),
            ),
        }
    }

    fn is_exact(view: &'a AnyView<'a>) -> Result<bool> {
        Ok(is_owned_text(view))
    }
}

owned_param!([] char);

impl IntoAny for char {
    fn try_into_any(self) -> Result<Any> {
        (&*self.encode_utf8(&mut [0; 4])).try_into_any()
    }
}

/// Implements the conversions of an owned text, which is made from a `&str`.
#[cfg(feature = "alloc")]
macro_rules! owned_texts {
    ($($name:ty),*) => {$(
        impl Described for $name {
            const TYPE: &'static TypeText = string::String::TEXT;

            fn accepts(view: &AnyView<'_>) -> bool {
                matches!(text_of(view), Ok(Some(_)))
            }
        }

        impl<'a> FromView<'a> for $name {
            fn from_view(view: &'a AnyView<'a>) -> Result<Option<Self>> {
                Ok(text_of(view)?.map(<$name>::from))
            }

            fn is_exact(view: &'a AnyView<'a>) -> Result<bool> {
                Ok(is_owned_text(view) && text_of(view)?.is_some())
            }
        }

        owned_param!([] $name);

        impl IntoAny for $name {
            fn try_into_any(self) -> Result<Any> {
                let text: &str = &self;
                text.try_into_any()
            }
        }
    )*};
}

#[cfg(feature = "alloc")]
mod owned {
    use super::*;
    use alloc::borrow::Cow;
    use alloc::boxed::Box;

    owned_texts!(alloc::string::String, Box<str>);

    impl Described for Cow<'_, str> {
        const TYPE: &'static TypeText = string::String::TEXT;

        fn accepts(view: &AnyView<'_>) -> bool {
            matches!(text_of(view), Ok(Some(_)))
        }
    }

    impl IntoAny for Cow<'_, str> {
        fn try_into_any(self) -> Result<Any> {
            (&*self).try_into_any()
        }
    }
}
