//! The serializer whose output is a value.

use alloc::vec::Vec;
use core::fmt::Display;

use serde_core::ser::{
    Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};

use crate::error;
use crate::error::{Error, Result, out_of_memory};
use crate::value::any::Any;
use crate::value::big_int;
use crate::value::convert::{IntoAny as _, map_of};
use crate::value::sequence::Builder;
use crate::value::string::{Bytes, String};

/// Serializer whose output is an [`Any`].
pub(super) struct IntoAnySerializer;

fn push<T>(values: &mut Vec<T>, value: T) -> Result<()> {
    values.try_reserve(1).map_err(|_| out_of_memory(size_of::<T>()))?;
    values.push(value);
    Ok(())
}

fn array_of(elements: Vec<Any>) -> Result<Any> {
    let mut array = Builder::new(elements.len())?;
    for element in elements {
        array.push(element)?;
    }
    Ok(array.finish())
}

/// Wraps the content of an enum's variant.
fn variant_of(name: Option<&'static str>, content: Any) -> Result<Any> {
    match name {
        Some(name) => map_of(1, core::iter::once((name, content))),
        None => Ok(content),
    }
}

/// The elements of an Array to be, and the variant that it is the content of.
pub(super) struct Elements {
    elements: Vec<Any>,
    variant: Option<&'static str>,
}

impl Elements {
    pub(super) fn new(variant: Option<&'static str>) -> Elements {
        Elements { elements: Vec::new(), variant }
    }

    pub(super) fn push(&mut self, element: Any) -> Result<()> {
        push(&mut self.elements, element)
    }

    pub(super) fn finish(self) -> Result<Any> {
        variant_of(self.variant, array_of(self.elements)?)
    }
}

/// The entries of a Map to be, and the variant that it is the content of.
pub(super) struct Entries {
    key: Any,
    entries: Vec<(Any, Any)>,
    variant: Option<&'static str>,
}

impl Entries {
    pub(super) fn new(variant: Option<&'static str>) -> Entries {
        Entries { key: Any::NONE, entries: Vec::new(), variant }
    }

    pub(super) fn push(&mut self, key: Any, value: Any) -> Result<()> {
        push(&mut self.entries, (key, value))
    }

    pub(super) fn finish(self) -> Result<Any> {
        variant_of(self.variant, map_of(self.entries.len(), self.entries.into_iter())?)
    }
}

macro_rules! plain {
    ($($method:ident: $value:ty;)*) => {$(
        fn $method(self, value: $value) -> Result<Any> {
            Ok(Any::from(value))
        }
    )*};
}

impl Serializer for IntoAnySerializer {
    type Ok = Any;
    type Error = Error;
    type SerializeSeq = Elements;
    type SerializeTuple = Elements;
    type SerializeTupleStruct = Elements;
    type SerializeTupleVariant = Elements;
    type SerializeMap = Entries;
    type SerializeStruct = Entries;
    type SerializeStructVariant = Entries;

    plain! {
        serialize_bool: bool;
        serialize_i8: i8;
        serialize_i16: i16;
        serialize_i32: i32;
        serialize_i64: i64;
        serialize_u8: u8;
        serialize_u16: u16;
        serialize_u32: u32;
        serialize_f32: f32;
        serialize_f64: f64;
    }

    fn serialize_u64(self, value: u64) -> Result<Any> {
        self.serialize_i128(value.into())
    }

    fn serialize_i128(self, value: i128) -> Result<Any> {
        let words = [value as i64, (value >> 64) as i64];
        big_int::from_native_bytes(words.map(i64::to_ne_bytes).as_flattened())
    }

    fn serialize_u128(self, value: u128) -> Result<Any> {
        match i128::try_from(value) {
            Ok(value) => self.serialize_i128(value),
            Err(_) => Err(error!(OverflowError, "Integer {value} is out of range for `i128`")),
        }
    }

    fn serialize_char(self, value: char) -> Result<Any> {
        value.try_into_any()
    }

    fn serialize_str(self, value: &str) -> Result<Any> {
        value.try_into_any()
    }

    fn collect_str<T: Display + ?Sized>(self, value: &T) -> Result<Any> {
        String::format(format_args!("{value}")).map(Any::from)
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<Any> {
        Bytes::new(value).map(Any::from)
    }

    fn serialize_none(self) -> Result<Any> {
        Ok(Any::NONE)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Any> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<Any> {
        Ok(Any::NONE)
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<Any> {
        Ok(Any::NONE)
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<Any> {
        variant.try_into_any()
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<Any> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<Any> {
        variant_of(Some(variant), value.serialize(self)?)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Elements> {
        Ok(Elements::new(None))
    }

    fn serialize_tuple(self, _: usize) -> Result<Elements> {
        Ok(Elements::new(None))
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Elements> {
        Ok(Elements::new(None))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Elements> {
        Ok(Elements::new(Some(variant)))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Entries> {
        Ok(Entries::new(None))
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Entries> {
        Ok(Entries::new(None))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Entries> {
        Ok(Entries::new(Some(variant)))
    }
}

macro_rules! elements {
    ($($of:ident: $method:ident;)*) => {$(
        impl $of for Elements {
            type Ok = Any;
            type Error = Error;

            fn $method<T: Serialize + ?Sized>(&mut self, element: &T) -> Result<()> {
                self.push(element.serialize(IntoAnySerializer)?)
            }

            fn end(self) -> Result<Any> {
                self.finish()
            }
        }
    )*};
}

elements! {
    SerializeSeq: serialize_element;
    SerializeTuple: serialize_element;
    SerializeTupleStruct: serialize_field;
    SerializeTupleVariant: serialize_field;
}

macro_rules! fields {
    ($($of:ident),*) => {$(
        impl $of for Entries {
            type Ok = Any;
            type Error = Error;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<()> {
                self.push(key.try_into_any()?, value.serialize(IntoAnySerializer)?)
            }

            fn end(self) -> Result<Any> {
                self.finish()
            }
        }
    )*};
}

fields!(SerializeStruct, SerializeStructVariant);

impl SerializeMap for Entries {
    type Ok = Any;
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<()> {
        self.key = key.serialize(IntoAnySerializer)?;
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        let key = core::mem::take(&mut self.key);
        self.push(key, value.serialize(IntoAnySerializer)?)
    }

    fn end(self) -> Result<Any> {
        self.finish()
    }
}
