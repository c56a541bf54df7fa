//! Context pointers of shared objects, by which an object's host code finds its module.
//!
//! The system maps a file only once, even if it is loaded several times. All modules of the file
//! share one context pointer, which refers to the module loaded last. If that module is destroyed
//! before the others, the pointer must be changed to one of them.

use core::ffi::c_void;
use core::ptr::{self, NonNull};

use ferrite_alloc_ext::module::Module;
use ferrite_alloc_ext::module::library_module::LoadedLibrary;
use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::platform::sync::Mutex;
use ferrite_core::platform::sync::atomic::{AtomicUsize, Ordering};

/// Identity of one load of a shared object, which may be loaded several times.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct LoadId(usize);

/// Value that one load stored in its object's context pointer.
pub(crate) struct StoredContext {
    load: LoadId,
    slot: NonNull<c_void>,
    context: *mut c_void,
}

// SAFETY: the pointers are dereferenced under the lock only, while the object is open.
unsafe impl Send for StoredContext {}

/// Contexts of all loads that are still open, in the order in which they were stored.
pub(crate) static STORED_CONTEXTS: Mutex<Buffer<StoredContext>> = Mutex::new(Buffer::new());

impl LoadId {
    pub(super) fn new() -> LoadId {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        LoadId(NEXT.fetch_add(1, Ordering::Relaxed))
    }

    /// Publishes a loaded library: stores the address of its module in the object's context
    /// pointer, for the host code. Returns the module.
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

    /// Ends this load. If the object's context pointer refers to the module of this load, the
    /// pointer changes to the most recent of the object's other modules, or to null.
    ///
    /// # Safety
    /// The object must be open. The module of this load must not be used afterwards.
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
