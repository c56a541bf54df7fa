//! The fields `imports_` and `import_lookup_cache_` of modules, which one lock guards for all
//! modules. A lock per module is not possible, since modules created by C++ code have no space for
//! one. The lock is held only while the fields are read or changed.

use core::cell::Cell;
use core::mem;
use core::ptr::NonNull;

use ferrite_core::ObjectRef;
use ferrite_core::abi::TVMFFIObject;
use ferrite_core::error::Result;
use ferrite_core::object::ObjectClass;
use ferrite_core::platform::sync::Lock;

use crate::containers::ArrayObject;
use crate::module::interface::Module;
use crate::module::lookup_cache::LookupCache;
use crate::module::record::{incomplete, module_obj};

/// Lock of all imports, with the number of changes so far. A decision made without the lock is
/// valid if the number is still the same under the lock; otherwise it is made again. At least one
/// of several competing threads makes progress.
pub(crate) static CHANGES: Lock<Cell<usize>> = Lock::new(Cell::new(0));

/// Returns the current imports of a module. Later changes do not affect the returned Array.
///
/// # Errors
/// InternalError for a module without an Array of imports.
pub(in crate::module) fn snapshot(module: &Module) -> Result<ArrayObject> {
    // SAFETY: the module is alive, and the lock guards the field.
    let imports = CHANGES.with(|_| unsafe { (*module_obj(module)).imports.clone() });
    imports.and_then(|imports| imports.downcast().ok()).ok_or_else(|| incomplete("imports"))
}

/// Runs `body` on the imports of a module under the lock, and returns its result: whether it
/// changed the imports. Returns `None` without running `body` if the imports of any module changed
/// since `before`. `body` must not run user callbacks, including a user's allocator.
pub(super) fn change(
    module: &Module,
    before: usize,
    body: &mut dyn FnMut(&mut Option<ObjectRef>) -> bool,
) -> Option<bool> {
    CHANGES.with(|changes| {
        let in_time = changes.get() == before;
        // SAFETY: the module is alive, and the lock is held.
        let changed = in_time && body(unsafe { &mut (*module_obj(module)).imports });
        if changed {
            changes.set(before.wrapping_add(1));
        }
        in_time.then_some(changed)
    })
}

/// Replaces the imports of a module, unless the imports of any module changed since `before`.
/// Returns `true` if they were replaced.
pub(super) fn replace(module: &Module, imports: &ArrayObject, before: usize) -> bool {
    let mut imports = Some(imports.as_object().clone());
    let replaced = change(module, before, &mut |present| {
        mem::swap(present, &mut imports);
        true
    });
    replaced.is_some()
}

pub(super) fn changes() -> usize {
    CHANGES.with(Cell::get)
}

/// A function borrowed from a cache; `None` if the cache lacks the name.
pub(super) type Found = Option<NonNull<TVMFFIObject>>;

/// Runs `body` on the lookup cache of a module under the lock, and returns its result. `body` must
/// not run user callbacks, including a user's allocator. Raises InternalError for a module without
/// a cache.
pub(super) fn with_cache(
    module: &Module,
    body: &mut dyn FnMut(&mut LookupCache) -> Found,
) -> Result<Found> {
    let result = CHANGES.with(|_| {
        // SAFETY: the module is alive, and the lock gives exclusive access to the field.
        of_class(unsafe { &mut (*module_obj(module)).import_lookup_cache }).map(body)
    });
    result.ok_or_else(|| incomplete("import lookup cache"))
}

/// Casts a reference in a field of a module to class `T`; `None` if it is null or of another class.
pub(super) fn of_class<T: ObjectClass>(word: &mut Option<ObjectRef>) -> Option<&mut T> {
    let is_of_class = word.as_ref().is_some_and(ObjectRef::is_instance::<T>);
    // SAFETY: references to objects of all classes have one layout, and the object is of class `T`.
    is_of_class.then(|| unsafe { &mut *(&raw mut *word).cast() })
}
