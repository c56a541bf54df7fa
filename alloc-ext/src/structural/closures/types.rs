//! Types of the nodes for which closures are called.

use ferrite_core::abi::type_index;
use ferrite_core::call::function::Function;
use ferrite_core::error::Result;
use ferrite_core::names::type_table;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::value::convert::Described;

use crate::containers::{Array, Tuple};

/// Type indices of nodes, without duplicates.
#[derive(Default)]
pub struct Types(Buffer<i32>);

impl Types {
    /// Adds the type of the values that convert to `T` without change: the type that its schema
    /// names, or any type.
    ///
    /// # Errors
    /// MemoryError.
    pub fn add<T: Described>(&mut self) -> Result<()> {
        let index = type_table::key_to_index(T::TYPE.key().as_bytes()).unwrap_or(type_index::ANY);
        if !self.0.contains(&index) {
            self.0.try_push(index)?;
        }
        Ok(())
    }

    /// Creates the callback entries that call `function` for nodes of these types, for the global
    /// functions of walks, maps and visits.
    ///
    /// # Errors
    /// MemoryError.
    pub fn callbacks(&self, function: &Function) -> Result<Array<Tuple<(i32, Function)>>> {
        self.collect(|index| Tuple::new((index, function.clone())))
    }

    /// Creates the callback entries that call `function` for nodes of these types, for the global
    /// function of mutations. The function also receives the in-place mode.
    ///
    /// # Errors
    /// MemoryError.
    pub fn mutations(&self, function: &Function) -> Result<Array<Tuple<(i32, Function, bool)>>> {
        self.collect(|index| Tuple::new((index, function.clone(), true)))
    }

    fn collect<T: ferrite_core::value::convert::Value>(
        &self,
        callback: impl Fn(i32) -> Result<T>,
    ) -> Result<Array<T>> {
        let mut callbacks = Array::with_capacity(self.0.len())?;
        for index in self.0.iter() {
            callbacks.push(callback(*index)?)?;
        }
        Ok(callbacks)
    }
}
