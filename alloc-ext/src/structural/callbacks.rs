//! Callback dispatch by type: a value is passed to the first callback that accepts its type.
#![forbid(unsafe_code)]

use ferrite_core::abi::type_index;
use ferrite_core::call::function::Function;
use ferrite_core::error::Result;
use ferrite_core::names::type_table;
use ferrite_core::platform::memory::Buffer;

use crate::containers::{Array, Tuple};

/// Callbacks as passed to global functions: pairs of type index and function.
pub type CallbackEntries = Array<Tuple<(i32, Function)>>;

/// A user callback for values of one type.
pub struct Callback {
    /// Type index of accepted values.
    pub type_index: i32,
    /// The function to call.
    pub function: Function,
    /// Whether the function of a mutator takes the in-place mode as an additional argument.
    pub takes_inplace_mode: bool,
}

/// Callbacks in the order in which they are tried.
#[derive(Default)]
pub struct Callbacks(Buffer<Callback>);

impl Callbacks {
    /// Creates callbacks from pairs of type index and function.
    ///
    /// # Errors
    /// MemoryError.
    pub fn new(entries: &CallbackEntries) -> Result<Self> {
        Self::collect(entries.iter().map(|entry| {
            let (type_index, function) = entry?.get()?;
            Ok(Callback { type_index, function, takes_inplace_mode: false })
        }))
    }

    /// Creates callbacks from triples of type index, function and the `takes_inplace_mode` flag.
    ///
    /// # Errors
    /// MemoryError.
    pub fn with_flags(entries: &Array<Tuple<(i32, Function, bool)>>) -> Result<Self> {
        Self::collect(entries.iter().map(|entry| {
            let (type_index, function, takes_inplace_mode) = entry?.get()?;
            Ok(Callback { type_index, function, takes_inplace_mode })
        }))
    }

    fn collect(callbacks: impl ExactSizeIterator<Item = Result<Callback>>) -> Result<Self> {
        let mut collected = Buffer::new();
        collected.try_reserve(callbacks.len())?;
        for callback in callbacks {
            collected.try_push(callback?)?;
        }
        Ok(Self(collected))
    }

    /// Returns the first callback that accepts a type; `None` if none does.
    pub fn find(&self, type_index: i32) -> Option<&Callback> {
        self.0.iter().find(|callback| takes(callback.type_index, type_index))
    }
}

/// Returns `true` if a callback for type `wanted` accepts values of type `found`: the same type, a
/// derived type, or any type for `ANY`. Small strings and bytes count as strings and bytes.
///
/// # Upstream
/// `RuntimeTypeIndexMatch` in `object.h`.
fn takes(wanted: i32, found: i32) -> bool {
    match wanted {
        type_index::ANY => true,
        type_index::STR => matches!(found, type_index::STR | type_index::SMALL_STR),
        type_index::BYTES => matches!(found, type_index::BYTES | type_index::SMALL_BYTES),
        _ => type_table::is_instance(found, wanted),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrite_core::value::any::Any;

    #[test]
    fn the_first_callback_that_takes_the_type_is_found() -> Result<()> {
        let function = Function::from_typed(|_: Any| {})?;
        let entry = |type_index: i32| Tuple::new((type_index, function.clone()));
        let order = [type_index::STR, type_index::INT, type_index::OBJECT, type_index::ANY];
        let entries = Array::from_slice(&[
            entry(order[0])?,
            entry(order[1])?,
            entry(order[2])?,
            entry(order[3])?,
        ])?;
        let callbacks = Callbacks::new(&entries)?;
        let found = |type_index| callbacks.find(type_index).map(|callback| callback.type_index);
        assert_eq!(found(type_index::SMALL_STR), Some(type_index::STR));
        assert_eq!(found(type_index::INT), Some(type_index::INT));
        assert_eq!(found(type_index::BOOL), Some(type_index::ANY));
        assert_eq!(found(type_index::BYTES), Some(type_index::OBJECT));
        assert_eq!(found(type_index::SMALL_BYTES), Some(type_index::ANY));
        assert!(Callbacks::default().find(type_index::INT).is_none());
        Ok(())
    }
}
