//! Context pointers of shared objects: which module an object's host code sees.
//!
//! The system opens a file once, however often it is loaded. All modules of the file share one context pointer, which refers to
//! the module loaded last. When that module is destroyed before the others, the pointer must change to one of them.

use core::ffi::c_void;
use core::ptr::{self, NonNull};

use ferrite_alloc_ext::module::Module;
use ferrite_alloc_ext::module::library::LoadedLibrary;
use ferrite_core::error::Result;
use ferrite_core::memory::Buffer;
use ferrite_core::sync::Mutex;
use ferrite_core::sync::atomic::{AtomicUsize, Ordering};

/// Identifies one loading of a shared object.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct LoadId(usize);

/// Context that a loading stored in its object's context pointer.
pub(crate) struct StoredContext {
    load: LoadId,
    slot: NonNull<c_void>,
    context: *mut c_void,
}

// SAFETY: the pointers are dereferenced under the lock only, while the object is open.
unsafe impl Send for StoredContext {}

/// Contexts of all open loadings, in the order in which they were stored.
pub(crate) static STORED_CONTEXTS: Mutex<Buffer<StoredContext>> = Mutex::new(Buffer::new());

impl LoadId {
    pub(super) fn new() -> LoadId {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        LoadId(NEXT.fetch_add(1, Ordering::Relaxed))
    }

    /// Stores the module in the object's context pointer, for its host code.
    ///
    /// # Errors
    /// `MemoryError`.
    pub(super) fn publish(self, loaded: &LoadedLibrary) -> Result<Module> {
        let Some((slot, context)) = loaded.context() else {
            return Ok(loaded.publish());
        };
        let mut stored = STORED_CONTEXTS.lock();
        if let Err(refused) = stored.try_reserve(1) {
            // Creating the error may run a user's allocator, so the list is unlocked first.
            drop(stored);
            return Err(refused.into());
        }
        stored.try_push(StoredContext { load: self, slot, context })?;
        Ok(loaded.publish())
    }

    /// Removes this loading. If the object's context pointer refers to its module, stores the last of the other modules, or
    /// null.
    ///
    /// # Safety
    /// The object must be open. The module of this loading must not be used after this.
    pub(super) unsafe fn end(self) {
        let mut stored = STORED_CONTEXTS.lock();
        let Some(at) = stored.iter().position(|known| known.load == self) else { return };
        let Some(StoredContext { slot, context, .. }) = stored.remove(at) else { return };
        let other = stored
            .iter()
            .rev()
            .find(|known| known.slot == slot)
            .map_or(ptr::null_mut(), |known| known.context);
        let slot: *mut *mut c_void = slot.as_ptr().cast();
        // SAFETY: the slot is a writable pointer of an open object (contract of `Library`).
        unsafe {
            if slot.read_unaligned() == context {
                slot.write_unaligned(other);
            }
        }
    }
}
