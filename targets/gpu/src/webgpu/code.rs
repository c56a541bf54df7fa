//! The code of WebGPU modules, and the marker type of their back end.

use core::hash::BuildHasher;
use core::sync::atomic::{AtomicBool, Ordering};
use std::hash::RandomState;

use ferrite_core::error::{Result, out_of_memory};
use ferrite_core::platform::memory::Buffer;
use ferrite_core::platform::sync::ObjectMutex;
use ferrite_core::{Function, String};
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

/// The WebGPU back end.
pub struct WebGpu;

/// Code of a WebGPU module: the buffer accesses of its kernels, and prebuilt functions.
pub struct Code {
    /// Whether a kernel writes a buffer, by kernel and buffer.
    pub(super) is_written: Buffer<Buffer<bool>>,
    pub(super) prebuilt: Prebuilt,
}

/// Prebuilt functions that replace kernels, by kernel name.
pub(super) struct Prebuilt {
    functions: ObjectMutex<HashTable<(String, Function)>>,
    hasher: RandomState,
    /// Whether the table has any functions. It rarely does, and a lookup in an empty table takes no
    /// lock.
    are_any: AtomicBool,
}

impl Prebuilt {
    /// Creates an empty table.
    pub(super) fn new() -> Prebuilt {
        Prebuilt {
            functions: ObjectMutex::new(HashTable::new()),
            hasher: RandomState::new(),
            are_any: AtomicBool::new(false),
        }
    }

    pub(super) fn get(&self, name: &[u8]) -> Option<Function> {
        if !self.are_any.load(Ordering::Acquire) {
            return None;
        }
        let functions = self.functions.lock();
        let found = functions.find(self.hasher.hash_one(name), |(of, _)| of.as_bytes() == name);
        found.map(|(_, function)| function.clone())
    }

    pub(super) fn set(&self, name: String, function: Function) -> Result<()> {
        let hash = |(of, _): &(String, Function)| self.hasher.hash_one(of.as_bytes());
        let new = (name, function);
        let mut functions = self.functions.lock();
        if functions.try_reserve(1, hash).is_err() {
            // Creating the error may run a user's allocator, so the table is unlocked first.
            drop(functions);
            return Err(out_of_memory(size_of_val(&new)));
        }
        let previous = match functions.entry(hash(&new), |(of, _)| *of == new.0, hash) {
            Entry::Occupied(mut slot) => Some(core::mem::replace(slot.get_mut(), new)),
            Entry::Vacant(slot) => {
                slot.insert(new);
                self.are_any.store(true, Ordering::Release);
                None
            }
        };
        // Dropped without the lock, since dropping a function may run a user callback.
        drop(functions);
        drop(previous);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_prebuilt_function_of_each_name_is_found() -> Result<()> {
        let name = |number: i64| std::format!("kernel_{number}");
        let prebuilt = Prebuilt::new();
        assert!(prebuilt.get(b"kernel_0").is_none());
        for number in 0..200 {
            let name = String::from_bytes(name(number % 100).as_bytes())?;
            prebuilt.set(name, Function::from_typed(move || number)?)?;
        }
        for number in 0..100 {
            let function = prebuilt.get(name(number).as_bytes());
            let result = function.map(|function| function.call::<i64>(())).transpose()?;
            assert_eq!(result, Some(number + 100));
        }
        assert!(prebuilt.get(b"kernel_100").is_none());
        Ok(())
    }
}
