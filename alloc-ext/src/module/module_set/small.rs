//! Module set for size-optimised builds: a list with linear search.
#![forbid(unsafe_code)]

use ferrite_core::object::ObjectClass;
use ferrite_core::platform::memory::{AllocError, Buffer};

use crate::module::interface::Module;

pub(crate) struct ModuleSet(Buffer<Module>);

impl ModuleSet {
    /// Creates an empty set. Does not allocate.
    pub(crate) const fn new() -> Self {
        Self(Buffer::new())
    }

    /// Adds a module. Returns `false` if it is already in the set.
    ///
    /// # Errors
    /// AllocError when out of memory; the set is unchanged. No error object is created, so the
    /// caller may hold a lock.
    pub(crate) fn add(&mut self, module: &Module) -> Result<bool, AllocError> {
        let is_new = self.position(module).is_none();
        if is_new {
            self.0.try_push(module.clone())?;
        }
        Ok(is_new)
    }

    /// Removes a module. Returns the set's reference to it; `None` if it is not in the set. Does
    /// not allocate.
    pub(crate) fn remove(&mut self, module: &Module) -> Option<Module> {
        self.0.swap_remove(self.position(module)?)
    }

    fn position(&self, module: &Module) -> Option<usize> {
        self.0.iter().position(|known| known.as_object().ptr_eq(module.as_object()))
    }
}
