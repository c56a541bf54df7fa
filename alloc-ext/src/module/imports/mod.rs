//! Imports of modules: insertion with cycle detection, iterative search, and the cached lookup for
//! host code.
//!
//! `fields` reads and changes the fields of modules under a lock. Allocation, the creation of
//! errors and the dropping of objects may run user callbacks, and therefore happen outside of the
//! lock.

mod fields;

use core::mem;
use core::ptr::NonNull;

use ferrite_core::abi::TVMFFIObject;
use ferrite_core::error::Result;
use ferrite_core::names::global_table;
use ferrite_core::object::ObjectClass;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::{Any, String, plain_bail};

use super::interface::{Module, Query};
use super::lookup_cache;
use super::module_set::ModuleSet;
use super::record;
use crate::containers::ArrayObject;
use fields::{Found, change, changes, of_class, replace, with_cache};

#[cfg(any(feature = "std", test))]
pub(crate) use fields::CHANGES;
pub(super) use fields::snapshot;

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
        let appended = match append_in_place(module, other, before) {
            Some(false) => append_to_copy(module, other, before)?,
            in_time => in_time.is_some(),
        };
        if appended {
            return Ok(());
        }
    }
}

/// Appends `other` if there is spare capacity and no snapshot of the imports exists, so that adding
/// n imports takes linear time. Returns whether it was appended; `None` if the imports of any
/// module changed since `before`.
///
/// Size-optimised builds never append in place, which saves 226 bytes of flash.
fn append_in_place(module: &Module, other: &Module, before: usize) -> Option<bool> {
    if cfg!(not(feature = "speed")) {
        return Some(false);
    }
    let import = Any::from(other.clone());
    change(module, before, &mut |imports| {
        of_class::<ArrayObject>(imports).is_some_and(|imports| imports.push_in_place(&import))
    })
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

/// Target of a search through modules.
#[derive(Clone, Copy)]
pub(super) enum SearchTarget<'a> {
    /// The answer to a query about the function with this name.
    Answer(Query, &'a String),
    /// The given module, for which the answer is `true`.
    Itself(&'a Module),
}

impl SearchTarget<'_> {
    /// Returns the answer of one module, None if it has none.
    pub(super) fn of(self, module: &Module) -> Result<Any> {
        match self {
            SearchTarget::Answer(query, name) => (record::ops(module)?.query)(module, query, name),
            SearchTarget::Itself(target) => {
                Ok(module.as_object().ptr_eq(target.as_object()).then_some(true).into())
            }
        }
    }

    /// Returns the first answer of a module and its imports, None if there is none.
    pub(super) fn of_tree(self, module: &Module) -> Result<Any> {
        let found = self.of(module)?;
        if found.is_none() { search(module, self) } else { Ok(found) }
    }
}

/// Searches the imports of `module` depth-first, visiting each module once. Returns the first
/// answer that is not None, or None.
///
/// # Errors
/// Errors of the searched modules; TypeError if an import is not a module; MemoryError.
fn search(module: &Module, target: SearchTarget<'_>) -> Result<Any> {
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

#[cfg(test)]
mod tests {
    use super::super::testing::{name, tagged};
    use super::*;
    use crate::containers::faults::{asked_while, with_every_refusal};
    use ferrite_core::{Function, ObjectRef};

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
            || CHANGES.with(|_| ()),
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
