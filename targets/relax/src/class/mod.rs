//! Object classes that are registered when their first object is created.

use ferrite_core::abi::type_index;
use ferrite_core::class::KeyBinding;
use ferrite_core::error::Result;
use ferrite_core::names::type_table::{self, NewTypeRequest};

/// An object class that is registered on first use.
pub(crate) struct Class {
    key: &'static str,
    binding: KeyBinding,
    /// Class that this one is derived from; `ffi.Object` if there is none.
    parent: Option<&'static Class>,
}

impl Class {
    /// Creates the class with this type key, derived from `ffi.Object`.
    pub(crate) const fn new(key: &'static str) -> Class {
        Class { key, binding: KeyBinding::new(), parent: None }
    }

    /// Creates the class with this type key, derived from another one.
    pub(crate) const fn derived(key: &'static str, parent: &'static Class) -> Class {
        Class { key, binding: KeyBinding::new(), parent: Some(parent) }
    }

    /// Returns the number of classes above this one.
    fn depth(&self) -> i32 {
        self.parent.map_or(1, |parent| parent.depth() + 1)
    }

    /// Returns the type index. Returns a sentinel that no object has before registration.
    #[inline]
    pub(crate) fn index(&self) -> i32 {
        self.binding.index()
    }

    /// Returns the type index. Registers the class first if necessary, unless another runtime
    /// already registered its key.
    ///
    /// # Errors
    /// TypeError if a Rust class of the program has the type key; MemoryError.
    #[inline]
    pub(crate) fn register(&'static self) -> Result<i32> {
        match self.index() {
            index @ 0.. => Ok(index),
            _ => self.register_now(),
        }
    }

    #[cold]
    fn register_now(&'static self) -> Result<i32> {
        let parent_type_index = match self.parent {
            Some(parent) => parent.register()?,
            None => type_index::OBJECT,
        };
        let index = type_table::get_or_alloc_index(&NewTypeRequest {
            type_key: self.key.as_bytes(),
            static_type_index: -1,
            type_depth: self.depth(),
            num_child_slots: 0,
            child_slots_can_overflow: true,
            parent_type_index,
        })?;
        self.binding.bind_on_first_use(index, self.key.as_bytes())?;
        Ok(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_of_a_class_of_the_program_is_refused() -> Result<()> {
        static OTHER: KeyBinding = KeyBinding::new();
        static LATE: Class = Class::new("test.relax.Late");
        static EARLY: Class = Class::new("test.relax.Early");
        let request = NewTypeRequest {
            type_key: b"test.relax.Late",
            static_type_index: -1,
            type_depth: 1,
            num_child_slots: 0,
            child_slots_can_overflow: true,
            parent_type_index: type_index::OBJECT,
        };
        OTHER.bind(type_table::get_or_alloc_index(&request)?, b"test.relax.Late")?;
        let error = LATE.register().unwrap_err();
        assert_eq!(error.kind_bytes(), b"TypeError");
        assert_eq!(LATE.index(), -2);
        assert!(OTHER.bind(EARLY.register()?, b"test.relax.Early").is_err());
        Ok(())
    }
}
