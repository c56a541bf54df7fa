//! Module set for speed-optimised builds: a hash table.
#![forbid(unsafe_code)]

use ferrite_core::ObjectRef;
use ferrite_core::object::ObjectClass;
use ferrite_core::platform::memory::AllocError;

use crate::module::interface::Module;
use crate::walk::IdentityMap;

pub(crate) struct ModuleSet(IdentityMap<()>);

impl ModuleSet {
    /// Creates an empty set. Does not allocate.
    pub(crate) const fn new() -> Self {
        Self(IdentityMap::new())
    }

    /// Adds a module. Returns `false` if it is already in the set.
    ///
    /// # Errors
    /// AllocError when out of memory; the set is unchanged. No error object is created, so the
    /// caller may hold a lock.
    pub(crate) fn add(&mut self, module: &Module) -> Result<bool, AllocError> {
        self.0.reserve_one()?;
        let len = self.0.len();
        // Cannot fail after the reservation.
        let _place = self.0.insert(module.as_object(), ());
        Ok(self.0.len() != len)
    }

    /// Removes a module. Returns the set's reference to it; `None` if it is not in the set. Does
    /// not allocate.
    pub(crate) fn remove(&mut self, module: &Module) -> Option<ObjectRef> {
        self.0.remove(module.as_object())?
    }
}
