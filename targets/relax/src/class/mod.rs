//! Object classes that are registered when their first object is created.

use ferrite_core::error::Result;
use ferrite_core::sync::atomic::{AtomicI32, Ordering};
use ferrite_core::type_index;
use ferrite_core::type_table::{self, NewTypeRequest};

/// Type index of a class before it is registered. No object has it.
const NOT_REGISTERED: i32 = -2;

/// An object class, derived from `ffi.Object`, that is registered on first use.
pub(crate) struct Class {
    key: &'static str,
    index: AtomicI32,
}

impl Class {
    /// Creates the class with this type key.
    pub(crate) const fn new(key: &'static str) -> Class {
        Class { key, index: AtomicI32::new(NOT_REGISTERED) }
    }

    /// Returns the type index. Before registration, it is one that no object has.
    #[inline]
    pub(crate) fn index(&self) -> i32 {
        self.index.load(Ordering::Relaxed)
    }

    /// Returns the type index. Registers the class first if necessary, unless another runtime already registered its key.
    ///
    /// # Errors
    /// MemoryError.
    #[inline]
    pub(crate) fn register(&self) -> Result<i32> {
        match self.index() {
            NOT_REGISTERED => self.register_now(),
            index => Ok(index),
        }
    }

    #[cold]
    fn register_now(&self) -> Result<i32> {
        let index = type_table::get_or_alloc_index(&NewTypeRequest {
            type_key: self.key.as_bytes(),
            static_type_index: -1,
            type_depth: 1,
            num_child_slots: 0,
            child_slots_can_overflow: true,
            parent_type_index: type_index::OBJECT,
        })?;
        self.index.store(index, Ordering::Relaxed);
        Ok(index)
    }
}
