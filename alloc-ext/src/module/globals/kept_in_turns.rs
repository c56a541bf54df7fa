//! The modules that are kept alive, found by comparing one after the other: firmware has few.
#![forbid(unsafe_code)]

use ferrite_core::memory::{AllocError, Buffer};
use ferrite_core::object::ObjectClass;

use crate::module::Module;

/// A set of modules.
pub(crate) struct Kept(Buffer<Module>);

impl Kept {
    pub(super) const fn new() -> Self {
        Kept(Buffer::new())
    }

    /// Adds a module, unless it is there.
    ///
    /// # Errors
    /// The refusal.
    pub(super) fn add(&mut self, module: &Module) -> Result<(), AllocError> {
        if self.position(module).is_none() {
            self.0.try_reserve(1)?;
            // There is room, so there is no error.
            let _added = self.0.try_push(module.clone());
        }
        Ok(())
    }

    /// Takes a module out, if it is there. Takes no memory.
    pub(super) fn remove(&mut self, module: &Module) -> Option<Module> {
        self.0.swap_remove(self.position(module)?)
    }

    fn position(&self, module: &Module) -> Option<usize> {
        self.0.iter().position(|known| known.as_object().ptr_eq(module.as_object()))
    }
}
