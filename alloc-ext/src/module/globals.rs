//! Modules that stay loaded for the life of the process, even when all other references are gone.
//!
//! # Upstream
//! `ModuleGlobals` in `module.cc`.
#![forbid(unsafe_code)]

use ferrite_core::error::{Result, out_of_memory};
use ferrite_core::memory::Buffer;
use ferrite_core::object::ObjectClass;
use ferrite_core::sync::Mutex;

use super::Module;

static KEPT: Mutex<Buffer<Module>> = Mutex::new(Buffer::new());

/// Keeps a module alive. Adding it again changes nothing.
///
/// # Errors
/// `MemoryError`.
pub fn add(module: &Module) -> Result<()> {
    let mut kept = KEPT.lock();
    if position(&kept, module).is_some() {
        return Ok(());
    }
    let refused = match kept.reserve_silently(1) {
        Ok(()) => return kept.try_push(module.clone()),
        Err(bytes) => bytes,
    };
    // The error is made maybe by a user's allocator, which must find the list unlocked.
    drop(kept);
    Err(out_of_memory(refused))
}

/// Stops keeping a module alive. One that was not added is ignored.
pub fn remove(module: &Module) {
    let mut kept = KEPT.lock();
    let removed = position(&kept, module).and_then(|at| kept.swap_remove(at));
    // The last reference may run destructors of users, which must find the list unlocked.
    drop(kept);
    drop(removed);
}

fn position(kept: &[Module], module: &Module) -> Option<usize> {
    kept.iter().position(|known| known.as_object().ptr_eq(module.as_object()))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{FakeLibrary, tagged};
    use super::*;
    use crate::module::library::create_library_module;
    use std::sync::atomic::Ordering;

    #[test]
    fn a_kept_module_outlives_its_references() -> Result<()> {
        let (library, open) = FakeLibrary::new(&[]);
        let module = create_library_module(library)?;
        add(&module)?;
        add(&module)?;
        assert_eq!(module.as_object().strong_count(), 2);
        let again = KEPT.lock().iter().find(|kept| kept.as_object().ptr_eq(module.as_object())).cloned();
        drop(module);
        assert_eq!(open.load(Ordering::Relaxed), 1);
        remove(&again.clone().unwrap());
        drop(again);
        assert_eq!(open.load(Ordering::Relaxed), 0);
        remove(&tagged(0, "never added"));
        Ok(())
    }
}
