//! The modules that shared objects find in their context pointers.
//!
//! The system opens a file once, however often it is loaded: all modules of it share one pointer, which has the module that
//! was loaded last. When that one ends before the others, their code must not find it any more, but another of them.

use core::ffi::c_void;
use core::ptr::{self, NonNull};

use ferrite_alloc_ext::module::Module;
use ferrite_alloc_ext::module::library::LoadedLibrary;
use ferrite_core::error::Result;
use ferrite_core::memory::Buffer;
use ferrite_core::sync::Mutex;
use ferrite_core::sync::atomic::{AtomicUsize, Ordering};

/// One opening of a shared object.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Opening(usize);

/// What an opening has put into a context pointer.
pub(crate) struct Published {
    opening: Opening,
    slot: NonNull<c_void>,
    context: *mut c_void,
}

// SAFETY: the pointers are followed under the lock alone, while the object is open.
unsafe impl Send for Published {}

/// Of all that are open, the last one of a slot last.
pub(crate) static PUBLISHED: Mutex<Buffer<Published>> = Mutex::new(Buffer::new());

impl Opening {
    pub(super) fn new() -> Opening {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        Opening(NEXT.fetch_add(1, Ordering::Relaxed))
    }

    /// Tells the object's host code its module.
    ///
    /// # Errors
    /// `MemoryError`.
    pub(super) fn publish(self, loaded: &LoadedLibrary) -> Result<Module> {
        let Some((slot, context)) = loaded.context() else {
            return Ok(loaded.publish());
        };
        let mut published = PUBLISHED.lock();
        if let Err(refused) = published.try_reserve(1) {
            // The error is made maybe by a user's allocator, which must find the list unlocked.
            drop(published);
            return Err(refused.into());
        }
        published.try_push(Published { opening: self, slot, context })?;
        Ok(loaded.publish())
    }

    /// Puts the last of the other modules into the object's context pointer, or null, if the one of this opening is there.
    ///
    /// # Safety
    /// The object must be open. The module of this opening must not be used after this.
    pub(super) unsafe fn end(self) {
        let mut published = PUBLISHED.lock();
        let Some(at) = published.iter().position(|known| known.opening == self) else { return };
        let Some(Published { slot, context, .. }) = published.remove(at) else { return };
        let other = published
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
