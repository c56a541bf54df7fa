//! Modules that stay loaded for the life of the process, even when all other references are gone.
//!
//! # Upstream
//! `ModuleGlobals` in `module.cc`.
#![forbid(unsafe_code)]

#[cfg_attr(not(feature = "std"), path = "globals/kept_in_turns.rs")]
mod kept;

use ferrite_core::error::{Result, out_of_memory};
use ferrite_core::sync::Mutex;

use super::Module;
use kept::Kept;

static KEPT: Mutex<Kept> = Mutex::new(Kept::new());

/// Keeps a module alive. Adding it again changes nothing.
///
/// # Errors
/// `MemoryError`.
pub fn add(module: &Module) -> Result<()> {
    let added = KEPT.lock().add(module);
    // The error is made maybe by a user's allocator, which must find the list unlocked.
    added.map_err(out_of_memory)
}

/// Stops keeping a module alive. One that was not added is ignored.
pub fn remove(module: &Module) {
    let removed = KEPT.lock().remove(module);
    // The last reference may run destructors of users, which must find the list unlocked.
    drop(removed);
}

#[cfg(test)]
mod tests {
    use super::super::testing::{FakeLibrary, tagged};
    use super::*;
    use crate::module::library::create_library_module;
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

    /// Comparing each with all before it would take thirty times as long for each of many as for each of few.
    #[cfg(all(feature = "std", not(miri)))]
    #[test]
    fn many_take_linear_time() {
        let time_of = |count: usize| {
            let modules: std::vec::Vec<_> = (0..count).map(|_| tagged(0, "kept")).collect();
            let start = std::time::Instant::now();
            modules.iter().for_each(|module| add(module).unwrap());
            modules.iter().for_each(remove);
            start.elapsed() / u32::try_from(count).unwrap()
        };
        time_of(1_000);
        let few = (0..5).map(|_| time_of(1_000)).min().unwrap();
        let many = (0..3).map(|_| time_of(30_000)).min().unwrap();
        assert!(many < 10 * few, "{many:?} for each of many, {few:?} of few");
    }
}
