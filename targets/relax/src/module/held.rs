//! References to a module's implementation that keep the module alive.

use core::ops::Deref;
use core::ptr::NonNull;

use ferrite_alloc_ext::module::{Module, ModuleImpl};

/// A module and a pointer to its implementation, which is valid as long as the module lives.
pub(super) struct Held<T> {
    module: Module,
    implementation: NonNull<T>,
}

// SAFETY: implementations of modules are shared between threads, and references to modules are.
unsafe impl<T: ModuleImpl> Send for Held<T> {}
// SAFETY: as above.
unsafe impl<T: ModuleImpl> Sync for Held<T> {}

impl<T: ModuleImpl> Held<T> {
    /// Takes a reference to a module, with its implementation.
    ///
    /// # Safety
    /// The implementation must be that of the module.
    pub(super) unsafe fn new(module: &Module, implementation: &T) -> Held<T> {
        Held { module: module.clone(), implementation: NonNull::from(implementation) }
    }

    /// Returns the module.
    pub(super) fn module(&self) -> &Module {
        &self.module
    }
}

impl<T> Deref for Held<T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the module keeps its implementation, which never moves.
        unsafe { self.implementation.as_ref() }
    }
}
