//! Classes of objects that are registered when the first object is made.

use ferrite_core::error::Result;
use ferrite_core::sync::atomic::{AtomicI32, Ordering};
use ferrite_core::type_index;
use ferrite_core::type_table::{self, NewTypeRequest};

/// The index of a class that is not registered yet: no object has it.
const NOT_REGISTERED: i32 = -2;

/// A class of objects, a child of `ffi.Object`.
pub(crate) struct Class {
    key: &'static str,
    index: AtomicI32,
}

impl Class {
    /// A class of that key.
    pub(crate) const fn new(key: &'static str) -> Class {
        Class { key, index: AtomicI32::new(NOT_REGISTERED) }
    }

    /// The type index; one that no object has while the class is not registered.
    #[inline]
    pub(crate) fn index(&self) -> i32 {
        self.index.load(Ordering::Relaxed)
    }

    /// The type index, which the class gets now if it has none. Another runtime may have registered the key.
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
