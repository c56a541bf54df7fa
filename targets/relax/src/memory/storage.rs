//! Storages: memory in which the tensors of a model are placed.

use core::mem::ManuallyDrop;

use ferrite_core::abi::TVMFFIObject;
use ferrite_core::error::Result;
use ferrite_core::object::ObjectClass;
use ferrite_core::object::object_alloc::{self, ObjectRecord, Recycled};
use ferrite_core::object_class;

use super::Block;
use crate::class::Class;

static CLASS: Class = Class::new("vm.Storage");

object_class! {
    /// Reference to a storage. Tensors placed in it keep it alive.
    ///
    /// # Upstream
    /// `vm::Storage` in `src/runtime/vm/memory_manager.h`.
    pub struct Storage, CLASS.index(), "vm.Storage"
}

#[repr(C)]
struct StorageRecord {
    header: TVMFFIObject,
    block: ManuallyDrop<Block>,
}

// SAFETY: repr(C), header first.
unsafe impl ObjectRecord for StorageRecord {
    unsafe fn destroy(this: *mut TVMFFIObject) {
        // SAFETY: the record is initialised and ours alone.
        unsafe { ManuallyDrop::drop(&mut (*this.cast::<StorageRecord>()).block) };
    }
}

impl Storage {
    /// Creates a storage that owns a block.
    ///
    /// # Errors
    /// TypeError if a Rust class of the program has the type key; MemoryError. On an error the
    /// block is freed.
    pub fn new(block: Block) -> Result<Storage> {
        let index = CLASS.register()?;
        // SAFETY: the record has room for the block.
        let init = move |record: *mut StorageRecord| unsafe {
            (&raw mut (*record).block).write(ManuallyDrop::new(block));
        };
        // SAFETY: `init` fills the record; objects of this class have this layout.
        let object = unsafe { object_alloc::allocate_in(&mut Recycled, index, 0, init)? };
        // SAFETY: just made as such.
        Ok(unsafe { Storage::from_object_unchecked(object) })
    }

    /// Returns the storage's block of memory.
    pub fn block(&self) -> &Block {
        // SAFETY: the object is a storage, and its block stays while it lives.
        unsafe { &(*self.as_object().as_ptr().cast::<StorageRecord>()).block }
    }
}
