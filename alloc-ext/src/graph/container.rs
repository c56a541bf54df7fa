//! Construction of decoded Arrays, Lists, Maps and Dicts.
#![forbid(unsafe_code)]

use ferrite_core::abi::type_index;
use ferrite_core::error::Result;
use ferrite_core::object::object_alloc::Chunks;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::value::any::Any;

use crate::containers::{ArrayObject, DictObject, ListObject, MapObject};

/// Builder of decoded containers, with a fast path for consecutive Maps with the same keys.
#[derive(Default)]
pub(super) struct ContainerMaker {
    /// The last Map built by insertion. Maps with the same keys copy its layout.
    pattern: Option<MapObject>,
    /// Memory from which new objects are allocated.
    pub(super) chunks: Chunks,
}

impl ContainerMaker {
    /// Creates a container from its elements, or from alternating keys and values. May move values
    /// out of the buffer.
    ///
    /// # Errors
    /// Errors of key hooks; MemoryError.
    pub(super) fn make(&mut self, type_index: i32, values: &mut Buffer<Any>) -> Result<Any> {
        match type_index {
            type_index::ARRAY => ArrayObject::of_tail(values, 0, &mut self.chunks).map(Any::new),
            type_index::LIST => ListObject::from_slice(values).map(Any::new),
            type_index::MAP => self.map_of(values).map(Any::new),
            _ => {
                let dict = DictObject::with_capacity(0)?;
                for_each_entry(values, |key, value| dict.insert(key, value))?;
                Ok(Any::new(dict))
            }
        }
    }

    fn map_of(&mut self, values: &mut Buffer<Any>) -> Result<MapObject> {
        if let Some(pattern) = &self.pattern
            && let Some(twin) = pattern.with_same_keys(values, 0, &mut self.chunks)?
        {
            return Ok(twin);
        }
        // Inserted one by one like upstream, which determines the layout and the position of a
        // repeated key.
        let mut map = MapObject::with_capacity(0)?;
        for_each_entry(values, |key, value| map.insert(key, value))?;
        self.pattern = map.is_as_grown().then(|| map.clone());
        Ok(map)
    }
}

fn for_each_entry(values: &[Any], mut insert: impl FnMut(Any, Any) -> Result<()>) -> Result<()> {
    let (entries, _) = values.as_chunks::<2>();
    entries.iter().try_for_each(|[key, value]| insert(key.clone(), value.clone()))
}
