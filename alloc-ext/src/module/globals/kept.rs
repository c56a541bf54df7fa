//! The modules that are kept alive, in a hash table.
#![forbid(unsafe_code)]

use ferrite_core::ObjectRef;
use ferrite_core::memory::AllocError;
use ferrite_core::object::ObjectClass;

use crate::module::Module;
use crate::walk::IdentityMap;

/// A set of modules.
pub(crate) struct Kept(IdentityMap<()>);

impl Kept {
    pub(super) const fn new() -> Self {
        Kept(IdentityMap::new())
    }

    /// Adds a module, unless it is there.
    ///
    /// # Errors
    /// The refusal.
    pub(super) fn add(&mut self, module: &Module) -> Result<(), AllocError> {
        let object = module.as_object();
        if self.0.get(object).is_none() {
            self.0.reserve_one()?;
            // There is room, so there is no error.
            let _added = self.0.insert(object, ());
        }
        Ok(())
    }

    /// Takes a module out, if it is there. Takes no memory.
    pub(super) fn remove(&mut self, module: &Module) -> Option<ObjectRef> {
        self.0.remove(module.as_object())?
    }
}
