//! Set of modules that stay loaded until they are removed or the process ends, even without other references.
//!
//! # Upstream
//! `ModuleGlobals` in `module.cc`.
#![forbid(unsafe_code)]

use ferrite_core::error::Result;
use ferrite_core::sync::Mutex;

use super::Module;
use super::module_set::ModuleSet;

pub(crate) static KEPT: Mutex<ModuleSet> = Mutex::new(ModuleSet::new());

/// Adds a module to the set, which keeps it alive. Adding it again has no effect.
///
/// # Errors
/// MemoryError.
pub fn add(module: &Module) -> Result<()> {
    let added = KEPT.lock().add(module);
    // The error is created after unlocking, since its memory may come from a user's allocator.
    Ok(added.map(drop)?)
}

/// Removes a module from the set. Has no effect if it was not added.
pub fn remove(module: &Module) {
    let removed = KEPT.lock().remove(module);
    // Dropped after unlocking, since the last reference may run user destructors.
    drop(removed);
}

#[cfg(test)]
mod tests {
    use super::super::testing::{FakeLibrary, tagged};
    use super::*;
    use crate::module::library_module::create_library_module;
    use ferrite_core::object::ObjectClass;
    use ferrite_core::weak::WeakObjectRef;
    use std::sync::atomic::Ordering;

    #[test]
    fn a_kept_module_outlives_its_references() -> Result<()> {
        let (library, open) = FakeLibrary::new(&[]);
        let module = create_library_module(library)?;
        add(&module)?;
        add(&module)?;
        assert_eq!(module.as_object().strong_count(), 2);
        let weak = WeakObjectRef::new(&module);
        drop(module);
        assert_eq!(open.load(Ordering::Relaxed), 1);
        remove(&weak.upgrade().unwrap());
        assert_eq!(open.load(Ordering::Relaxed), 0);
        remove(&tagged(0, "never added"));
        Ok(())
    }

    #[test]
    fn many_are_kept_each_until_it_is_removed() -> Result<()> {
        let modules: std::vec::Vec<_> = (0..100).map(|_| tagged(0, "kept")).collect();
        modules.iter().try_for_each(add)?;
        for (at, module) in modules.iter().enumerate() {
            remove(module);
            let counts = modules.iter().map(|module| module.as_object().strong_count());
            assert!(counts.eq((0..100).map(|other| if other <= at { 1 } else { 2 })), "{at}");
        }
        Ok(())
    }
}
