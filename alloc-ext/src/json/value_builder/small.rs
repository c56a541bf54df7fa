//! Size-optimised builder without caches.
#![forbid(unsafe_code)]

use ferrite_core::error::Result;
use ferrite_core::object::object_alloc::Apart;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::value::any::Any;
use ferrite_core::value::convert::AnyCompatible;
use ferrite_core::value::string::String;

use super::Builder;
use crate::containers::{Array, ArrayObject, MapObject};

/// Builder of objects.
#[derive(Default)]
pub(in crate::json) struct ValueBuilder {}

impl Builder for ValueBuilder {
    type Value = Any;

    fn short(word: u64, len: usize) -> Any {
        String::of_word(word, len).into_any()
    }

    fn literal(&mut self, text: &[u8], start: usize, len: usize, _: bool) -> Result<Any> {
        self.unescaped(text.get(start..start + len).unwrap_or_default())
    }

    fn unescaped(&mut self, content: &[u8]) -> Result<Any> {
        String::from_bytes(content).map(String::into_any)
    }

    fn array(&mut self, values: &mut Buffer<Any>, first: usize) -> Result<Any> {
        if first == values.len() {
            return Array::<Any>::new().map(Array::into_any);
        }
        ArrayObject::of_tail(values, first, &mut Apart).map(ArrayObject::into_any)
    }

    fn object(&mut self, values: &mut Buffer<Any>, first: usize) -> Result<Any> {
        MapObject::of_tail(values, first, &mut Apart).map(MapObject::into_any)
    }
}
