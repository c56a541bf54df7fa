//! The deserializer whose input is a value.

use serde_core::de::value::{MapAccessDeserializer, MapDeserializer, SeqDeserializer};
use serde_core::de::{Deserializer, IntoDeserializer, Visitor};
use serde_core::forward_to_deserialize_any;

use super::refusals::{MAX_DEPTH, integer_of, no_form, too_deep};
use crate::abi::type_index;
use crate::error::{Error, Result};
use crate::value::any::Any;
use crate::value::convert::{TargetTexts, entries_of, mismatch_error};
use crate::value::shape::Shape;
use crate::value::{device, dtype, sequence, string};
use crate::{AnyCompatible as _, bail};

/// Deserializer of a value and the depth at which it is nested.
pub(super) struct FromAnyDeserializer {
    value: Any,
    depth: usize,
}

impl FromAnyDeserializer {
    pub(super) fn new(value: Any) -> Self {
        FromAnyDeserializer { value, depth: 0 }
    }

    /// Returns a function that makes a deserializer of an element of a value at `depth`.
    fn inner(depth: usize) -> impl Fn(Any) -> FromAnyDeserializer {
        move |value| FromAnyDeserializer { value, depth: depth + 1 }
    }

    fn check_depth(&self) -> Result<()> {
        if self.depth > MAX_DEPTH { Err(too_deep()) } else { Ok(()) }
    }

    fn visit_text<'de, V: Visitor<'de>>(text: &string::String, visitor: V) -> Result<V::Value> {
        visitor.visit_str(core::str::from_utf8(text.as_bytes())?)
    }

    fn visit_sequence<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let mut conflict = None;
        let mut element = |index| {
            sequence::element(self.value.as_view(), index).unwrap_or_else(|error| {
                conflict = Some(error);
                None
            })
        };
        let elements = (0..).map_while(&mut element);
        let mut elements = SeqDeserializer::new(elements.map(Self::inner(self.depth)));
        let data = visitor.visit_seq(&mut elements);
        let end = elements.end();
        // The list was in use: then the data lacks elements.
        conflict.map_or(Ok(()), Err)?;
        let data = data?;
        end?;
        Ok(data)
    }

    fn visit_entries<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let inner = Self::inner(self.depth);
        let entries = entries_of(self.value.as_view())?.unwrap_or_default();
        let mut entries = MapDeserializer::new(
            entries.into_iter().map(|(key, value)| (inner(key), inner(value))),
        );
        let data = visitor.visit_map(&mut entries)?;
        entries.end()?;
        Ok(data)
    }
}

impl IntoDeserializer<'_, Error> for FromAnyDeserializer {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

/// Generates methods that read numbers with the conversions of arguments.
macro_rules! numbers {
    ($($method:ident: $visit:ident $number:ty;)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
            visitor.$visit(self.value.get::<$number>()?)
        }
    )*};
}

/// Generates methods that read unsigned 64-bit and 128-bit integers.
macro_rules! wide_integers {
    ($($method:ident: $visit:ident $number:ident;)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
            let number = integer_of(&self.value)?;
            match $number::try_from(number) {
                Ok(number) => visitor.$visit(number),
                Err(_) => bail!(OverflowError, "Integer {number} is out of range for `{}`", stringify!($number)),
            }
        }
    )*};
}

impl<'de> Deserializer<'de> for FromAnyDeserializer {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.check_depth()?;
        let value = &self.value;
        match value.type_index() {
            type_index::NONE => visitor.visit_unit(),
            type_index::BOOL => visitor.visit_bool(value.get()?),
            type_index::INT => visitor.visit_i64(value.get()?),
            type_index::FLOAT => visitor.visit_f64(value.get()?),
            type_index::SMALL_STR | type_index::STR => visitor.visit_str(value.get()?),
            type_index::SMALL_BYTES | type_index::BYTES => visitor.visit_bytes(value.get()?),
            type_index::DATA_TYPE => Self::visit_text(&dtype::to_string(value.get()?)?, visitor),
            type_index::DEVICE => Self::visit_text(&device::to_string(value.get()?)?, visitor),
            type_index::BIG_INT => match (integer_of(value)?, u64::try_from(integer_of(value)?)) {
                (_, Ok(number)) => visitor.visit_u64(number),
                (number, Err(_)) => visitor.visit_i128(number),
            },
            type_index::SHAPE => {
                let shape: Shape = value.get()?;
                let mut extents =
                    SeqDeserializer::<_, Error>::new(shape.as_slice().iter().copied());
                let data = visitor.visit_seq(&mut extents)?;
                extents.end()?;
                Ok(data)
            }
            type_index::ARRAY | type_index::LIST => self.visit_sequence(visitor),
            type_index::MAP | type_index::DICT => self.visit_entries(visitor),
            _ => Err(no_form(value.view())),
        }
    }

    numbers! {
        deserialize_bool: visit_bool bool;
        deserialize_i8: visit_i8 i8;
        deserialize_i16: visit_i16 i16;
        deserialize_i32: visit_i32 i32;
        deserialize_i64: visit_i64 i64;
        deserialize_u8: visit_u8 u8;
        deserialize_u16: visit_u16 u16;
        deserialize_u32: visit_u32 u32;
        deserialize_f32: visit_f32 f32;
        deserialize_f64: visit_f64 f64;
    }

    wide_integers! {
        deserialize_u64: visit_u64 u64;
        deserialize_i128: visit_i128 i128;
        deserialize_u128: visit_u128 u128;
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        if self.value.is_none() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        visitor.visit_newtype_struct(self)
    }

    /// Reads a string as a variant without content, and a Map of one entry as a variant with
    /// content.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        self.check_depth()?;
        if let Some(name) = self.value.try_get::<&str>()? {
            return visitor.visit_enum(name.into_deserializer());
        }
        let Some(entries) = entries_of(self.value.as_view())? else {
            return Err(mismatch_error(
                self.value.view(),
                &TargetTexts::of_text(string::String::TEXT),
            ));
        };
        if entries.len() != 1 {
            bail!(
                ValueError,
                "a variant of an enum is a Map of one entry, not of {}",
                entries.len()
            );
        }
        let inner = Self::inner(self.depth);
        let entries = entries.into_iter().map(|(key, value)| (inner(key), inner(value)));
        visitor.visit_enum(MapAccessDeserializer::new(MapDeserializer::new(entries)))
    }

    forward_to_deserialize_any! {
        char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}
