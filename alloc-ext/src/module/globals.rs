//! Sets of modules that stay loaded, even without other references: until they are removed, or
//! until the process ends.
//!
//! # Upstream
//! `ModuleGlobals` in `module.cc`.

use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::platform::sync::Mutex;

use super::Module;
use super::module_set::ModuleSet;

/// Modules that stay loaded.
pub(crate) struct Kept {
    /// Modules that [`remove`] may remove.
    removable: ModuleSet,
    /// Modules with code that objects may refer to as long as the process runs.
    permanent: ModuleSet,
}

pub(crate) static KEPT: Mutex<Kept> =
    Mutex::new(Kept { removable: ModuleSet::new(), permanent: ModuleSet::new() });

/// Adds a module to the set, which keeps it alive. Adding it again has no effect.
///
/// # Errors
/// MemoryError.
pub fn add(module: &Module) -> Result<()> {
    let added = KEPT.with_mut(|kept| kept.removable.add(module));
    // The error is created after unlocking, since its memory may come from a user's allocator.
    Ok(added.map(drop)?)
}

/// Keeps the libraries in the import tree of a module until the process ends, also when the imports
/// are removed. Keeping them again has no effect.
///
/// # Errors
/// MemoryError; errors of modules that fail to list their imports.
pub(super) fn keep(root: &Module) -> Result<()> {
    let mut seen = ModuleSet::new();
    let mut pending = Buffer::new();
    pending.try_push(root.clone())?;
    while let Some(module) = pending.pop() {
        if module.kind()? == c"library" {
            let added = KEPT.with_mut(|kept| kept.permanent.add(&module));
            added?;
        }
        if seen.add(&module)? {
            for import in module.imports()?.as_slice() {
                pending.try_push(import.get()?)?;
            }
        }
    }
    Ok(())
}

/// Removes a module that [`add`] added. Has no effect on others.
///
/// # Safety
/// This may drop the last reference to the module: see [`Module::load_from_file`].
pub unsafe fn remove(module: &Module) {
    remove_added(module);
}

/// Implements [`remove`] for callers of `ffi.ModuleGlobalsRemove`, who guarantee the same.
pub(super) fn remove_added(module: &Module) {
    let removed = KEPT.with_mut(|kept| kept.removable.remove(module));
    // Dropped after unlocking, since the last reference may run user destructors.
    drop(removed);
}

#[cfg(test)]
mod tests {
    use super::super::testing::{FakeLibrary, tagged};
    use super::*;
    use crate::module::library_module::create_library_module;
    use ferrite_core::object::ObjectClass;
    use ferrite_core::object::weak::WeakObjectRef;
    use std::sync::atomic::Ordering;

    fn remove(module: &Module) {
        // SAFETY: the fake libraries of these tests have no code of their own.
        unsafe { super::remove(module) };
    }

    #[test]
    fn code_is_kept_for_good_and_other_modules_are_not() -> Result<()> {
        let (library, open) = FakeLibrary::new(&[]);
        let (root, code) = (tagged(0, "root"), create_library_module(library)?);
        root.import_module(&code)?;
        keep(&root)?;
        keep(&root)?;
        assert_eq!((root.as_object().strong_count(), code.as_object().strong_count()), (1, 3));
        root.clear_imports()?;
        remove(&code);
        drop((root, code));
        assert_eq!(open.load(Ordering::Relaxed), 1);
        Ok(())
    }

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
