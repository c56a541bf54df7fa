//! Set of modules in a hash table.
#![forbid(unsafe_code)]

use ferrite_core::ObjectRef;
use ferrite_core::memory::AllocError;
use ferrite_core::object::ObjectClass;

use crate::module::Module;
use crate::walk::IdentityMap;

/// A set of modules, by identity.
pub(crate) struct ModuleSet(IdentityMap<()>);

impl ModuleSet {
    pub(super) const fn new() -> Self {
        ModuleSet(IdentityMap::new())
    }

    /// Inserts a module if it is not in the set.
    ///
    /// # Errors
    /// AllocError when out of memory.
    pub(super) fn add(&mut self, module: &Module) -> Result<(), AllocError> {
        let object = module.as_object();
        if self.0.get(object).is_none() {
            self.0.reserve_one()?;
            // Cannot fail after the reservation.
            let _added = self.0.insert(object, ());
        }
        Ok(())
    }

    /// Removes a module if it is in the set. Does not allocate.
    pub(super) fn remove(&mut self, module: &Module) -> Option<ObjectRef> {
        self.0.remove(module.as_object())?
    }
}
