//! Imports of modules: insertion with cycle detection, iterative search, and the cached lookup for
//! host code.
//!
//! One lock guards the `imports_` and `import_lookup_cache_` fields of all modules. A lock per
//! module is not possible, since modules created by C++ code have no space for one. The lock is
//! held only while the fields are read or changed. Allocation, the creation of errors and the
//! dropping of objects may run user callbacks, and therefore happen outside of the lock.

#[cfg_attr(feature = "speed", path = "fast.rs")]
#[cfg_attr(not(feature = "speed"), path = "small.rs")]
mod imp;

use core::cell::Cell;
use core::mem;
use core::ptr::NonNull;

use ferrite_core::abi::TVMFFIObject;
use ferrite_core::error::Result;
use ferrite_core::names::global_table;
use ferrite_core::object::ObjectClass;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::platform::sync::Lock;
use ferrite_core::{Any, ObjectRef, String, plain_bail};

use super::lookup_cache::{self, LookupCache};
use super::module_set::ModuleSet;
use super::record::{incomplete, module_obj};
use super::{Module, Query, SearchTarget};
use crate::containers::ArrayObject;

/// Lock of all imports, with the number of changes so far. A decision made without the lock is
/// valid if the number is still the same under the lock; otherwise it is made again. At least one
/// of several competing threads makes progress.
pub(crate) static CHANGES: Lock<Cell<usize>> = Lock::new(Cell::new(0));

/// Returns the current imports of a module. Later changes do not affect the returned Array.
///
/// # Errors
/// InternalError for a module without an Array of imports.
pub(super) fn snapshot(module: &Module) -> Result<ArrayObject> {
    let guard = CHANGES.lock();
    // SAFETY: the module is alive, and the lock guards the field.
    let imports = unsafe { (*module_obj(module)).imports.clone() };
    drop(guard);
    imports.and_then(|imports| imports.downcast().ok()).ok_or_else(|| incomplete("imports"))
}

/// Runs `body` on the imports of a module under the lock, and returns its result: whether it
/// changed the imports. Returns `None` without running `body` if the imports of any module changed
/// since `before`. `body` must not run user callbacks, including a user's allocator.
fn change(
    module: &Module,
    before: usize,
    body: &mut dyn FnMut(&mut Option<ObjectRef>) -> bool,
) -> Option<bool> {
    let guard = CHANGES.lock();
    let in_time = guard.get() == before;
    // SAFETY: the module is alive, and the lock is held.
    let changed = in_time && body(unsafe { &mut (*module_obj(module)).imports });
    if changed {
        guard.set(before.wrapping_add(1));
    }
    drop(guard);
    in_time.then_some(changed)
}

/// Replaces the imports of a module, unless the imports of any module changed since `before`.
/// Returns `true` if they were replaced.
fn replace(module: &Module, imports: &ArrayObject, before: usize) -> bool {
    let mut imports = Some(imports.as_object().clone());
    let replaced = change(module, before, &mut |present| {
        mem::swap(present, &mut imports);
        true
    });
    replaced.is_some()
}

fn changes() -> usize {
    CHANGES.lock().get()
}

/// Appends `other` to the imports of `module`.
///
/// # Errors
/// RuntimeError if `other` is `module` or imports it, directly or indirectly; TypeError if an
/// import is not a module; InternalError for a module without an Array of imports; MemoryError.
///
/// # Upstream
/// `ModuleObj::ImportModule` in `module.cc`. Unlike upstream, this is thread-safe: concurrent
/// imports are not lost and cannot form a cycle.
pub fn append(module: &Module, other: &Module) -> Result<()> {
    loop {
        let before = changes();
        if !SearchTarget::Itself(module).of_tree(other)?.is_none() {
            plain_bail!(RUNTIME_ERROR, "Cyclic dependency detected during import");
        }
        let appended = match imp::append(module, other, before) {
            Some(false) => append_to_copy(module, other, before)?,
            in_time => in_time.is_some(),
        };
        if appended {
            return Ok(());
        }
    }
}

/// Appends `other` to a copy of the imports, since snapshots must not change. Returns `false` if
/// the imports of any module changed since `before`.
fn append_to_copy(module: &Module, other: &Module, before: usize) -> Result<bool> {
    let mut imports = snapshot(module)?;
    imports.push(Any::from(other.clone()))?;
    Ok(replace(module, &imports, before))
}

/// Removes all imports of a module.
///
/// # Errors
/// MemoryError.
///
/// # Upstream
/// `ModuleObj::ClearImports` in `module.cc`. Like upstream, keeps the lookup cache.
pub fn clear(module: &Module) -> Result<()> {
    let empty = ArrayObject::with_capacity(0)?;
    while !replace(module, &empty, changes()) {}
    Ok(())
}

/// Searches the imports of `module` depth-first, visiting each module once. Returns the first
/// answer that is not None, or None.
///
/// # Errors
/// Errors of the searched modules; TypeError if an import is not a module; MemoryError.
pub(super) fn search(module: &Module, target: SearchTarget<'_>) -> Result<Any> {
    let mut waiting = Buffer::new();
    push_reversed(&mut waiting, module)?;
    let mut visited = ModuleSet::new();
    while let Some(module) = waiting.pop() {
        if visited.add(&module)? {
            let found = target.of(&module)?;
            if !found.is_none() {
                return Ok(found);
            }
            push_reversed(&mut waiting, &module)?;
        }
    }
    Ok(Any::NONE)
}

/// Pushes the imports of a module in reverse order, so that the first import is on top.
fn push_reversed(waiting: &mut Buffer<Module>, module: &Module) -> Result<()> {
    for import in snapshot(module)?.as_slice().iter().rev() {
        waiting.try_push(import.get::<Module>()?)?;
    }
    Ok(())
}

/// Looks up a function for host code: in the imports depth-first, then in the global function
/// table. Caches the result in the module.
///
/// The result is borrowed from the module's cache, and stays valid as long as the module.
///
/// # Errors
/// RuntimeError if there is no such function; MemoryError; errors of the searched modules.
///
/// # Upstream
/// `ModuleObj::InternalUnsafe::GetFunctionFromImports` in `module_internal.h`, which holds a lock
/// during the search.
pub(super) fn lookup(module: &Module, name: &String) -> Result<NonNull<TVMFFIObject>> {
    if let Some(found) = with_cache(module, &mut |cache| lookup_cache::find(cache, name))? {
        return Ok(found);
    }
    let mut found = search(module, SearchTarget::Answer(Query::Function, name))?;
    if found.is_none() {
        found = global_table::get(name.as_bytes())?.into();
    }
    match remember(module, name, &found)? {
        Some(function) => Ok(function),
        None => plain_bail!(
            RUNTIME_ERROR,
            "Cannot find function {} in the imported modules or global registry.",
            name.as_bytes()
        ),
    }
}

/// Caches a function found by a lookup, and returns it; `None` if nothing was found. If another
/// thread has cached a function for the name, returns that one: the first result for a name is
/// final, since callers may have borrowed it.
fn remember(module: &Module, name: &String, found: &Any) -> Result<Found> {
    let function = found.view().object_ptr();
    while function.is_some() {
        let mut full = None;
        let known = with_cache(module, &mut |cache| {
            let known = lookup_cache::find(cache, name);
            if known.is_none() && !lookup_cache::add_in_place(cache, name, found) {
                full = Some(cache.clone());
            }
            known
        })?;
        let Some(full) = full else { return Ok(known.or(function)) };
        let mut larger = lookup_cache::with_added(&full, name, found)?;
        with_cache(module, &mut |cache| {
            if cache.as_object().ptr_eq(full.as_object()) {
                mem::swap(cache, &mut larger);
            }
            None
        })?;
    }
    Ok(None)
}

/// A function borrowed from a cache; `None` if the cache lacks the name.
type Found = Option<NonNull<TVMFFIObject>>;

/// Runs `body` on the lookup cache of a module under the lock, and returns its result. `body` must
/// not run user callbacks, including a user's allocator. Raises InternalError for a module without
/// a cache.
fn with_cache(module: &Module, body: &mut dyn FnMut(&mut LookupCache) -> Found) -> Result<Found> {
    let guard = CHANGES.lock();
    // SAFETY: the module is alive, and the lock gives exclusive access to the field.
    let result = of_class(unsafe { &mut (*module_obj(module)).import_lookup_cache }).map(body);
    drop(guard);
    result.ok_or_else(|| incomplete("import lookup cache"))
}

/// Casts a reference in a field of a module to class `T`; `None` if it is null or of another class.
fn of_class<T: ObjectClass>(word: &mut Option<ObjectRef>) -> Option<&mut T> {
    let is_of_class = word.as_ref().is_some_and(ObjectRef::is_instance::<T>);
    // SAFETY: references to objects of all classes have one layout, and the object is of class `T`.
    is_of_class.then(|| unsafe { &mut *(&raw mut *word).cast() })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{name, tagged};
    use super::*;
    use crate::containers::faults::{asked_while, with_every_refusal};
    use ferrite_core::Function;

    fn message(result: Result<()>) -> std::string::String {
        std::string::String::from_utf8_lossy(result.unwrap_err().message_bytes()).into_owned()
    }

    #[test]
    fn imports_are_searched_depth_first_when_asked() -> Result<()> {
        let (root, first, second, deep) =
            (tagged(0, "root"), tagged(1, "a"), tagged(2, "b"), tagged(3, "b"));
        first.import_module(&deep)?;
        root.import_module(&first)?;
        root.import_module(&second)?;
        assert!(root.get_function(&name("b"), false)?.is_none());
        assert_eq!(
            root.get_function(&name("b"), true)?.unwrap().call_packed(&[])?.get::<i64>()?,
            3
        );
        assert!(root.implements_function(&name("a"), true)?);
        root.clear_imports()?;
        assert!(root.get_function(&name("b"), true)?.is_none());
        assert!(root.imports()?.is_empty());
        Ok(())
    }

    #[test]
    fn many_imports_take_few_copies() {
        let (root, child) = (tagged(0, "root"), tagged(1, "child"));
        let requests = with_every_refusal(|| {
            let imported = root
                .clear_imports()
                .and_then(|()| (0..64).try_for_each(|_| root.import_module(&child)));
            assert!(imported.is_err() || root.imports().unwrap().len() == 64);
        });
        // One to clear, one per doubling.
        assert!(requests < 16 || cfg!(not(feature = "speed")), "{requests}");
    }

    #[test]
    fn a_snapshot_stays_what_it_was() -> Result<()> {
        let root = tagged(0, "root");
        for imported in 0..9 {
            let snapshot = root.imports()?;
            root.import_module(&tagged(1, "child"))?;
            assert_eq!((snapshot.len(), root.imports()?.len()), (imported, imported + 1));
        }
        Ok(())
    }

    #[test]
    fn cycles_are_refused() -> Result<()> {
        let (a, b, c) = (tagged(0, "a"), tagged(1, "b"), tagged(2, "c"));
        assert_eq!(message(a.import_module(&a)), "Cyclic dependency detected during import");
        a.import_module(&b)?;
        b.import_module(&c)?;
        assert_eq!(message(c.import_module(&a)), "Cyclic dependency detected during import");
        assert!(c.imports()?.is_empty());
        Ok(())
    }

    #[test]
    fn a_lookup_is_remembered_and_borrowed() -> Result<()> {
        let (root, child) = (tagged(0, "root"), tagged(1, "f"));
        root.import_module(&child)?;
        let first = root.lookup_from_imports(&name("f"))?;
        root.clear_imports()?;
        drop(child);
        assert_eq!(root.lookup_from_imports(&name("f"))?, first);
        // SAFETY: the module holds the function.
        let function = unsafe { ObjectRef::borrow_raw(first) };
        assert_eq!(function.strong_count(), 2);
        assert_eq!(
            message(root.lookup_from_imports(&name("root")).map(drop)),
            "Cannot find function root in the imported modules or global registry."
        );
        Ok(())
    }

    #[test]
    fn every_name_keeps_its_first_answer() -> Result<()> {
        let root = tagged(0, "root");
        let names: std::vec::Vec<_> =
            (0..50).map(|n| std::format!("module.imports.many.{n}")).collect();
        let mut found = std::vec::Vec::new();
        for known in &names {
            let function = Function::from_typed(|| 5i64)?;
            Function::set_global(known, &function, true)?;
            found.push(root.lookup_from_imports(&name(known))?);
            Function::set_global(known, &Function::from_typed(|| 6i64)?, true)?;
        }
        for (known, found) in names.iter().zip(found) {
            assert_eq!(root.lookup_from_imports(&name(known))?, found);
        }
        Ok(())
    }

    #[test]
    fn a_lookup_falls_back_to_global_functions() -> Result<()> {
        let function = Function::from_typed(|| 5i64)?;
        Function::set_global("module.imports.global", &function, true)?;
        let found = tagged(0, "root").lookup_from_imports(&name("module.imports.global"))?;
        assert_eq!(found.as_ptr(), function.as_object().as_ptr());
        Ok(())
    }

    #[test]
    fn a_long_chain_needs_no_stack() -> Result<()> {
        let len = if cfg!(feature = "std") && !cfg!(miri) { 20_000 } else { 20 };
        let root = tagged(0, "root");
        let mut leaf = root.clone();
        for _ in 0..len {
            let next = tagged(1, "link");
            leaf.import_module(&next)?;
            leaf = next;
        }
        leaf.import_module(&tagged(2, "end"))?;
        assert!(root.get_function(&name("end"), true)?.is_some());
        assert!(leaf.import_module(&root).is_err());
        Ok(())
    }

    #[test]
    fn shared_imports_are_visited_once() -> Result<()> {
        // Two paths per diamond: exponentially many in total.
        let mut top = tagged(0, "bottom");
        for _ in 0..if cfg!(miri) { 5 } else { 60 } {
            let (left, right, join) = (tagged(1, "l"), tagged(2, "r"), tagged(3, "j"));
            left.import_module(&top)?;
            right.import_module(&top)?;
            join.import_module(&left)?;
            join.import_module(&right)?;
            top = join;
        }
        assert!(top.get_function(&name("absent"), true)?.is_none());
        Ok(())
    }

    #[test]
    fn an_import_that_is_no_module_is_an_error() -> Result<()> {
        let root = tagged(0, "root");
        let bad = ArrayObject::from_slice(&[Any::from(5i64)])?;
        while !replace(&root, &bad, changes()) {}
        assert_eq!(
            root.get_function(&name("f"), true).map(drop).unwrap_err().kind_bytes(),
            b"TypeError"
        );
        Ok(())
    }

    #[test]
    #[cfg_attr(not(feature = "std"), ignore = "without std, objects end on one thread")]
    fn threads_import_and_look_up_together() -> Result<()> {
        let root = tagged(0, "root");
        let rounds = if cfg!(feature = "std") && !cfg!(miri) { 200 } else { 3 };
        std::thread::scope(|scope| {
            for tag in 0..4 {
                let root = &root;
                scope.spawn(move || {
                    for _ in 0..rounds {
                        root.import_module(&tagged(tag, "f")).unwrap();
                        assert!(root.get_function(&name("f"), true).unwrap().is_some());
                        root.lookup_from_imports(&name("f")).unwrap();
                    }
                });
            }
        });
        assert_eq!(root.imports()?.len(), 4 * rounds);
        Ok(())
    }
    #[test]
    fn allocators_find_the_words_unlocked() {
        let (root, cycle) = (tagged(0, "root"), tagged(1, "cycle"));
        cycle.import_module(&root).unwrap();
        let children = ["a", "b", "c", "d", "e", "f", "g", "h"].map(|function| tagged(2, function));
        asked_while(
            || drop(CHANGES.lock()),
            move || {
                let _ = root.import_module(&cycle);
                let _ = children.iter().try_for_each(|child| root.import_module(child));
                for function in ["a", "b", "c", "d", "e", "f", "g", "h", "absent"] {
                    let _ = root.lookup_from_imports(&name(function));
                }
                let _ = root.clear_imports();
            },
        );
    }
}
