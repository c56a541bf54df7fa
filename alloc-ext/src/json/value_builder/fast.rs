//! Speed-optimised builder with caches of keys and tables. JSON objects with the same keys share
//! the key strings, and copy the table layout.
#![forbid(unsafe_code)]

use ferrite_core::error::Result;
use ferrite_core::object::object_alloc::Chunks;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::platform::words::GOLDEN_RATIO;
use ferrite_core::value::any::Any;
use ferrite_core::value::convert::AnyCompatible;
use ferrite_core::value::string::String;

use super::Builder;
use crate::containers::{Array, ArrayObject, MapObject};

/// Builder of objects, with caches of keys and tables.
#[derive(Default)]
pub(in crate::json) struct ValueBuilder {
    /// Direct-mapped cache of keys that need a string object; empty until the first such key.
    keys: Buffer<String>,
    /// Recently built maps, by number of entries. Their table layouts are copied.
    patterns: [Option<MapObject>; PATTERN_SLOTS],
    /// Memory that the objects are allocated in.
    chunks: Chunks,
}

/// Slots of the key cache, a power of two.
const KEY_SLOTS: usize = 64;
/// Slots of the table cache, a power of two. Documents alternate between a few object types at
/// most.
const PATTERN_SLOTS: usize = 16;

impl ValueBuilder {
    /// Returns a key as a String, cached so that equal keys mostly share one object.
    ///
    /// # Errors
    /// MemoryError.
    fn key(&mut self, text: &[u8]) -> Result<Any> {
        if self.keys.is_empty() {
            self.keys.try_reserve(KEY_SLOTS)?;
            (0..KEY_SLOTS).try_for_each(|_| self.keys.try_push(String::EMPTY))?;
        }
        let Some(known) = self.keys.get_mut(key_slot(text)) else {
            return String::from_bytes_in(text, &mut self.chunks).map(Any::new);
        };
        if known.as_bytes() != text {
            *known = String::from_bytes_in(text, &mut self.chunks)?;
        }
        Ok(Any::new(known.clone()))
    }
}

impl Builder for ValueBuilder {
    type Value = Any;

    #[inline]
    fn short(word: u64, len: usize) -> Any {
        String::of_word(word, len).into_any()
    }

    #[inline]
    fn literal(&mut self, text: &[u8], start: usize, len: usize, is_key: bool) -> Result<Any> {
        let content = text.get(start..).and_then(|rest| rest.get(..len)).unwrap_or_default();
        if is_key { self.key(content) } else { self.unescaped(content) }
    }

    fn unescaped(&mut self, content: &[u8]) -> Result<Any> {
        String::from_bytes_in(content, &mut self.chunks).map(String::into_any)
    }

    fn array(&mut self, values: &mut Buffer<Any>, first: usize) -> Result<Any> {
        if first == values.len() {
            return Array::<Any>::new().map(Array::into_any);
        }
        ArrayObject::of_tail(values, first, &mut self.chunks).map(ArrayObject::into_any)
    }

    fn object(&mut self, values: &mut Buffer<Any>, first: usize) -> Result<Any> {
        let len = (values.len() - first) / 2;
        let pattern = &mut self.patterns[len % PATTERN_SLOTS];
        if let Some(pattern) = pattern
            && let Some(twin) = pattern.with_same_keys(values, first, &mut self.chunks)?
        {
            return Ok(twin.into_any());
        }
        let map = MapObject::of_tail(values, first, &mut self.chunks)?;
        // With repeated keys the table has a larger capacity than a copy of its layout would need.
        if map.len() == len && !map.is_empty() {
            *pattern = Some(map.clone());
        }
        Ok(map.into_any())
    }
}

/// Returns the cache slot of a key, computed from its length and last bytes, in which the keys of
/// an object mostly differ.
fn key_slot(text: &[u8]) -> usize {
    let last = text.last_chunk().map_or(0, |word| u64::from_le_bytes(*word));
    let mixed = (last ^ text.len() as u64).wrapping_mul(GOLDEN_RATIO);
    (mixed >> 32) as usize % KEY_SLOTS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::parser;

    #[test]
    fn tables_with_room_for_repeated_keys_have_no_twins() -> Result<()> {
        let mut values = ValueBuilder::default();
        parser::build(br#"{"a":1,"b":2,"c":3,"d":4,"e":5,"e":6}"#, &mut values)?;
        assert!(values.patterns.iter().all(Option::is_none));
        parser::build(br#"{"a":1,"b":2,"c":3,"d":4,"e":5}"#, &mut values)?;
        assert_eq!(values.patterns.iter().flatten().count(), 1);
        Ok(())
    }
}
