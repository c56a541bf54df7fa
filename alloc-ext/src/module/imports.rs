//! The imports of a module: appending without cycles, walking without recursion, and the cached lookup for
//! host code.
//!
//! One lock guards the `imports_` and `import_lookup_cache_` words of every module, ours and those of C++,
//! which have no room for one of their own. It is held while words are read or swapped, never while functions
//! of users run.

use core::ptr::NonNull;

use ferrite_core::abi::TVMFFIObject;
use ferrite_core::error::Result;
use ferrite_core::memory::Buffer;
use ferrite_core::object::ObjectClass;
use ferrite_core::sync::Mutex;
use ferrite_core::{Any, Function, ObjectRef, String, global_table, plain_bail, plain_error};

use super::Module;
use super::lookup_cache::{self, LookupCache};
use super::record::{incomplete, module_obj};
use super::visited::Visited;
use crate::containers::ArrayObject;

static WORDS: Mutex<()> = Mutex::new(());

/// What the module imports now.
///
/// # Errors
/// `InternalError` for a module without an array of imports.
pub(super) fn snapshot(module: &Module) -> Result<ArrayObject> {
    let guard = WORDS.lock();
    // SAFETY: the lock is held.
    let imports = unsafe { snapshot_locked(module) };
    drop(guard);
    imports
}

/// # Safety
/// The lock must be held.
unsafe fn snapshot_locked(module: &Module) -> Result<ArrayObject> {
    // SAFETY: the module is alive and the lock keeps the word and the reference in it from changing.
    let object =
        unsafe { NonNull::new((*module_obj(module)).imports).map(|object| ObjectRef::borrow_raw(object)) };
    match object.map(ObjectRef::downcast::<ArrayObject>) {
        Some(Ok(array)) => Ok(array),
        _ => Err(incomplete("imports")),
    }
}

/// Puts `imports` in place of what is there; gives back what must be released, which the caller does without
/// the lock.
///
/// # Safety
/// The lock must be held.
unsafe fn swap_locked(module: &Module, imports: ArrayObject) -> Option<ObjectRef> {
    // SAFETY: the module is alive and the lock is held; the word owns its reference.
    unsafe {
        let word = &raw mut (*module_obj(module)).imports;
        let replaced = word.replace(imports.into_object().into_raw().as_ptr());
        NonNull::new(replaced).map(|object| ObjectRef::from_raw(object))
    }
}

/// Appends `other` to the imports of `module`.
///
/// # Errors
/// `RuntimeError` when `other` is or reaches `module`; `MemoryError`.
///
/// # Upstream
/// `ModuleObj::ImportModule` in `module.cc`. Here two threads that import into one module both succeed, and
/// two that would make a cycle together do not.
pub fn append(module: &Module, other: &Module) -> Result<()> {
    loop {
        let before = snapshot(module)?;
        let mut after = before.clone();
        after.push(Any::from(other.clone()))?;
        if try_replace(module, other, &before, after)? {
            return Ok(());
        }
    }
}

/// Replaces the imports unless they changed since `before`; refuses a cycle through `other`.
fn try_replace(module: &Module, other: &Module, before: &ArrayObject, after: ArrayObject) -> Result<bool> {
    let guard = WORDS.lock();
    // SAFETY: the lock is held. It also keeps every module that the walk meets: each is in the imports of
    // another.
    let outcome = unsafe {
        match reaches_locked(other, module) {
            Ok(true) => Err(plain_error!(RUNTIME_ERROR, "Cyclic dependency detected during import")),
            Ok(false) if snapshot_locked(module)?.as_object().ptr_eq(before.as_object()) => {
                Ok(swap_locked(module, after))
            }
            Ok(false) => Ok(None),
            Err(error) => Err(error),
        }
    };
    drop(guard);
    outcome.map(|replaced| replaced.is_some())
}

/// # Safety
/// The lock must be held.
unsafe fn reaches_locked(from: &Module, target: &Module) -> Result<bool> {
    let mut waiting = Buffer::new();
    waiting.try_push(from.clone())?;
    // SAFETY: the caller holds the lock.
    let imports_of = |module: &Module| unsafe { snapshot_locked(module) };
    walk(waiting, &imports_of, &mut |module| Ok(module.as_object().ptr_eq(target.as_object())))
}

/// Forgets all imports.
///
/// # Errors
/// `MemoryError`.
///
/// # Upstream
/// `ModuleObj::ClearImports` in `module.cc`; the lookup cache stays, as there.
pub fn clear(module: &Module) -> Result<()> {
    let empty = ArrayObject::with_capacity(0)?;
    let guard = WORDS.lock();
    // SAFETY: the lock is held.
    let replaced = unsafe { swap_locked(module, empty) };
    drop(guard);
    drop(replaced);
    Ok(())
}

/// Visits the modules of the stack `waiting`, each followed by its imports, depth first; every module once.
/// Ends when `visit` answers true, and tells whether it did.
///
/// # Errors
/// Those of `visit` and `imports_of`; `TypeError` when an import is no module; `MemoryError`.
fn walk(
    mut waiting: Buffer<Module>,
    imports_of: &dyn Fn(&Module) -> Result<ArrayObject>,
    visit: &mut dyn FnMut(&Module) -> Result<bool>,
) -> Result<bool> {
    let mut visited = Visited::new();
    while let Some(module) = waiting.pop() {
        if !visited.insert(module.as_object().as_ptr().addr())? {
            continue;
        }
        if visit(&module)? {
            return Ok(true);
        }
        push_reversed(&mut waiting, &imports_of(&module)?)?;
    }
    Ok(false)
}

/// Puts the first import on top of the stack.
fn push_reversed(waiting: &mut Buffer<Module>, imports: &ArrayObject) -> Result<()> {
    for import in imports.as_slice().iter().rev() {
        waiting.try_push(import.get::<Module>()?)?;
    }
    Ok(())
}

/// Visits the imports of `module` as [`walk`] does.
///
/// # Errors
/// Those of `visit`; `TypeError` when an import is no module; `MemoryError`.
pub(super) fn visit(module: &Module, visit: &mut dyn FnMut(&Module) -> Result<bool>) -> Result<bool> {
    let mut waiting = Buffer::new();
    push_reversed(&mut waiting, &snapshot(module)?)?;
    if waiting.is_empty() { Ok(false) } else { walk(waiting, &snapshot, visit) }
}

/// Finds a function for host code: in the imports depth first, then in the global table. The module remembers
/// it.
///
/// The result is borrowed: it lives as long as the module.
///
/// # Errors
/// `RuntimeError` when there is no such function; `MemoryError`; errors of foreign modules.
///
/// # Upstream
/// `ModuleObj::InternalUnsafe::GetFunctionFromImports` in `module_internal.h`, which holds a lock during the
/// search.
pub(super) fn lookup(module: &Module, name: &String) -> Result<NonNull<TVMFFIObject>> {
    if let Some(found) = cached(module, name)? {
        return Ok(found);
    }
    let mut found = None;
    visit(module, &mut |import| {
        found = import.get_function(name, false)?;
        Ok(found.is_some())
    })?;
    if found.is_none() {
        found = global_table::get(name.as_bytes())?;
    }
    match found.map(|function| remember(module, name, &function)).transpose()?.flatten() {
        Some(function) => Ok(function),
        None => plain_bail!(
            RUNTIME_ERROR,
            "Cannot find function {} in the imported modules or global registry.",
            name.as_bytes()
        ),
    }
}

/// Runs `body` on the lookup cache under the lock. `body` must not run functions of users.
fn with_cache(module: &Module, body: &mut dyn FnMut(&mut LookupCache) -> Result<Found>) -> Result<Found> {
    let guard = WORDS.lock();
    // SAFETY: the module is alive and the lock is held; the word owns its reference and gets an owned one
    // back.
    let result = unsafe {
        let word = &raw mut (*module_obj(module)).import_lookup_cache;
        match NonNull::new(word.read()).map(|object| ObjectRef::from_raw(object).downcast::<LookupCache>()) {
            Some(Ok(mut cache)) => {
                let result = body(&mut cache);
                word.write(cache.into_object().into_raw().as_ptr());
                result
            }
            Some(Err(other)) => {
                word.write(other.into_raw().as_ptr());
                Err(incomplete("import lookup cache"))
            }
            None => Err(incomplete("import lookup cache")),
        }
    };
    drop(guard);
    result
}

/// A function that a cache holds, or none.
type Found = Option<NonNull<TVMFFIObject>>;

fn cached(module: &Module, name: &String) -> Result<Found> {
    with_cache(module, &mut |cache| lookup_cache::find(cache, name))
}

/// Stores what a lookup found, unless another thread was faster: a name keeps its first answer, which
/// somebody may hold.
fn remember(module: &Module, name: &String, function: &Function) -> Result<Found> {
    with_cache(module, &mut |cache| {
        let found = lookup_cache::find(cache, name)?;
        if found.is_none() {
            lookup_cache::add(cache, name, function.clone())?;
        }
        Ok(found.or(NonNull::new(function.as_object().as_ptr())))
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{name, tagged};
    use super::*;

    fn message(result: Result<()>) -> std::string::String {
        std::string::String::from_utf8_lossy(result.unwrap_err().message()).into_owned()
    }

    #[test]
    fn imports_are_searched_depth_first_when_asked() -> Result<()> {
        let (root, first, second, deep) = (tagged(0, "root"), tagged(1, "a"), tagged(2, "b"), tagged(3, "b"));
        first.import_module(&deep)?;
        root.import_module(&first)?;
        root.import_module(&second)?;
        assert!(root.get_function(&name("b"), false)?.is_none());
        assert_eq!(root.get_function(&name("b"), true)?.unwrap().call(&[])?.get::<i64>()?, 3);
        assert!(root.implements_function(&name("a"), true)?);
        root.clear_imports()?;
        assert!(root.get_function(&name("b"), true)?.is_none());
        assert!(root.imports()?.is_empty());
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
        // A path for every choice of left or right: 2 to the power of the number of diamonds.
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
        let guard = WORDS.lock();
        // SAFETY: the lock is held.
        let old = unsafe { swap_locked(&root, bad) };
        drop((guard, old));
        assert_eq!(root.get_function(&name("f"), true).map(drop).unwrap_err().kind(), b"TypeError");
        Ok(())
    }

    #[test]
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
}
