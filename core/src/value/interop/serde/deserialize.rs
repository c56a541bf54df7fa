//! `Deserialize` of values.

use alloc::vec::Vec;
use core::fmt;

use serde_core::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_core::ser::Serializer as _;

use super::into_any::{Elements, Entries, IntoAnySerializer};
use crate::abi::{DLDataType, DLDevice};
use crate::error;
use crate::value::any::Any;
use crate::value::shape::Shape;
use crate::value::string::{Bytes, String};

/// Implements methods of a visitor that make a value by the serializer's method of the same type.
macro_rules! scalars {
    ($($visit:ident: $serialize:ident $value:ty;)*) => {$(
        fn $visit<E: Error>(self, value: $value) -> Result<Any, E> {
            IntoAnySerializer.$serialize(value).map_err(custom)
        }
    )*};
}

/// Converts an error of the library to one of the format, with the same message.
fn custom<E: Error>(error: error::Error) -> E {
    E::custom(error.message())
}

/// Visitor that builds an [`Any`] from data of any type.
struct AnyVisitor;

impl<'de> Visitor<'de> for AnyVisitor {
    type Value = Any;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    scalars! {
        visit_bool: serialize_bool bool;
        visit_i64: serialize_i64 i64;
        visit_u64: serialize_u64 u64;
        visit_i128: serialize_i128 i128;
        visit_u128: serialize_u128 u128;
        visit_f64: serialize_f64 f64;
        visit_str: serialize_str &str;
        visit_bytes: serialize_bytes &[u8];
    }

    fn visit_unit<E: Error>(self) -> Result<Any, E> {
        Ok(Any::NONE)
    }

    fn visit_none<E: Error>(self) -> Result<Any, E> {
        Ok(Any::NONE)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Any, D::Error> {
        Any::deserialize(deserializer)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<Any, D::Error> {
        Any::deserialize(deserializer)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Any, A::Error> {
        let mut elements = Elements::new(None);
        while let Some(element) = sequence.next_element()? {
            elements.push(element).map_err(custom)?;
        }
        elements.finish().map_err(custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Any, A::Error> {
        let mut entries = Entries::new(None);
        while let Some((key, value)) = map.next_entry()? {
            entries.push(key, value).map_err(custom)?;
        }
        entries.finish().map_err(custom)
    }
}

/// Numbers, strings, bytes, Arrays and Maps, as the format says. Needs a format that describes
/// itself, such as JSON.
///
/// # Examples
/// ```
/// use ferrite_core::Any;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let value: Any = serde_json::from_str("[1, 2.5, null]")?;
/// assert_eq!(value.get::<(i64, f64, Option<i64>)>()?, (1, 2.5, None));
/// # Ok(())
/// # }
/// ```
impl<'de> Deserialize<'de> for Any {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Any, D::Error> {
        deserializer.deserialize_any(AnyVisitor)
    }
}

/// Visitor that parses a string into a `T`.
struct TextVisitor<T> {
    expected: &'static str,
    parse: fn(&str) -> error::Result<T>,
}

impl<T> Visitor<'_> for TextVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expected)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        (self.parse)(text).map_err(custom)
    }
}

macro_rules! texts {
    ($($name:ty: $expected:literal, $parse:expr;)*) => {$(
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<$name, D::Error> {
                deserializer.deserialize_str(TextVisitor { expected: $expected, parse: $parse })
            }
        }
    )*};
}

texts! {
    String: "a string", String::new;
    DLDataType: "the name of a data type", |text| DLDataType::parse(text.as_bytes());
    DLDevice: "the name of a device", |text| DLDevice::parse(text.as_bytes());
}

/// Visitor that reads bytes, and in formats without them also a sequence of numbers or a string.
struct BytesVisitor;

impl<'de> Visitor<'de> for BytesVisitor {
    type Value = Bytes;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("bytes")
    }

    fn visit_bytes<E: Error>(self, content: &[u8]) -> Result<Bytes, E> {
        Bytes::new(content).map_err(custom)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Bytes, E> {
        self.visit_bytes(text.as_bytes())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Bytes, A::Error> {
        let mut content = Vec::new();
        while let Some(byte) = sequence.next_element::<u8>()? {
            content.try_reserve(1).map_err(A::Error::custom)?;
            content.push(byte);
        }
        self.visit_bytes(&content)
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Bytes, D::Error> {
        deserializer.deserialize_bytes(BytesVisitor)
    }
}

impl<'de> Deserialize<'de> for Shape {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Shape, D::Error> {
        Shape::from_slice(&Vec::deserialize(deserializer)?).map_err(custom)
    }
}
