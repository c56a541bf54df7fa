//! Set of modules with linear search.
#![forbid(unsafe_code)]

use ferrite_core::memory::{AllocError, Buffer};
use ferrite_core::object::ObjectClass;

use crate::module::Module;

/// A set of modules, by identity.
pub(crate) struct ModuleSet(Buffer<Module>);

impl ModuleSet {
    pub(super) const fn new() -> Self {
        ModuleSet(Buffer::new())
    }

    /// Inserts a module if it is not in the set.
    ///
    /// # Errors
    /// AllocError when out of memory.
    pub(super) fn add(&mut self, module: &Module) -> Result<(), AllocError> {
        if self.position(module).is_none() {
            self.0.try_reserve(1)?;
            // Cannot fail after the reservation.
            let _added = self.0.try_push(module.clone());
        }
        Ok(())
    }

    /// Removes a module if it is in the set. Does not allocate.
    pub(super) fn remove(&mut self, module: &Module) -> Option<Module> {
        self.0.swap_remove(self.position(module)?)
    }

    fn position(&self, module: &Module) -> Option<usize> {
        self.0.iter().position(|known| known.as_object().ptr_eq(module.as_object()))
    }
}
