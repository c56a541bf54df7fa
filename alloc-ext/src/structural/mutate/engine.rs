//! This library's own mutators: a rule, and the variable remap.

use core::ptr::{self, NonNull};

use ferrite_core::abi::{TVMFFIAny, TVMFFIObject};
use ferrite_core::error::Result;
use ferrite_core::object::{ObjectClass, ObjectRef};
use ferrite_core::platform::sync::ObjectMutex;
use ferrite_core::value::any::{Any, AnyView};
use ferrite_core::{plain_bail, plain_error};

use super::mutation;
use super::mutator::{InplaceMode, MutatorVTable};
use super::node::Step;
use super::rule::Rule;
use crate::reflection::StructuralMutator;
use crate::structural::native;
use crate::structural::walker;
use crate::walk::IdentityMap;

/// State of a mutator of this library, stored after the common head.
///
/// # Upstream
/// `StructuralMapDynEngine` in `extra/structural_mutate.h` and `StructuralMutateDynEngine` in
/// `structural_mutate.cc`.
pub struct Engine {
    /// The rule by which the mutator rewrites values.
    pub rule: Rule,
    /// Variable remap: replacements of variables and graph nodes.
    var_remap: ObjectMutex<IdentityMap<Any>>,
}

static VTABLE: MutatorVTable = MutatorVTable {
    mutate: Some(mutate),
    maybe_inplace_mutate: Some(maybe_inplace_mutate),
    var_remap_get: Some(var_remap_get),
    var_remap_set: Some(var_remap_set),
};

impl Engine {
    /// Creates a mutator that rewrites values by a rule.
    ///
    /// # Errors
    /// MemoryError.
    pub fn mutator(rule: Rule) -> Result<StructuralMutator> {
        walker::create(&VTABLE, Self { rule, var_remap: ObjectMutex::new(IdentityMap::default()) })
    }

    /// Returns the engine of a mutator; `None` if C++ code created the mutator.
    pub fn of(mutator: &StructuralMutator) -> Option<&Self> {
        let vtable = walker::vtable(mutator).ok()?;
        // SAFETY: only `mutator` creates objects with this table, and they cannot be copied.
        ptr::eq(vtable, &VTABLE).then(|| unsafe { walker::engine_of::<_, Self>(mutator) })
    }

    fn var_remap_get(&self, var: AnyView<'_>) -> Result<Any> {
        let var = object_of(var)?;
        Ok(self.var_remap.with_mut(|map| map.get(&var).cloned()).unwrap_or(Any::NONE))
    }

    fn var_remap_set(&self, var: AnyView<'_>, mapped: AnyView<'_>) -> Result<()> {
        let (var, mapped) = (object_of(var)?, mapped.to_owned()?);
        // The old value is dropped, and an error is created, after unlocking, since both may run
        // user callbacks.
        let replaced = self.var_remap.with_mut(|var_remap| {
            var_remap.reserve_one().map(|()| {
                let old = var_remap.get(&var).cloned();
                var_remap.insert(&var, mapped.clone()).map(|()| old)
            })
        });
        replaced?.map(drop)
    }
}

fn object_of(var: AnyView<'_>) -> Result<Any> {
    if var.object_ptr().is_none() {
        plain_bail!(TYPE_ERROR, "Variable-remap key must be an object-backed value");
    }
    var.to_owned()
}

/// Rewrites a value by a mutator, and returns the new value or
/// [`UNCHANGED`](super::unchanged::UNCHANGED).
///
/// # Errors
/// Errors of [`mutation::run`].
pub fn run(
    mutator: &StructuralMutator,
    value: AnyView<'_>,
    mode: InplaceMode,
    step: Step,
) -> Result<Any> {
    mutation::run(mutator, Engine::of(mutator).map(|engine| &engine.rule), value, mode, step)
}

/// Runs the body of a C function of the table, or of a native hook, that takes a mutator and a
/// value. Returns the result, or the error as a value.
///
/// # Safety
/// `mutator` must be a live mutator or null, and `value` a live value; both are borrowed.
pub unsafe fn serve(
    mutator: *mut TVMFFIObject,
    value: TVMFFIAny,
    body: impl FnOnce(&StructuralMutator, AnyView<'_>) -> Result<Any>,
) -> TVMFFIAny {
    native::serve(|| {
        let object = NonNull::new(mutator)
            .ok_or_else(|| plain_error!(VALUE_ERROR, "There is no mutator"))?;
        // SAFETY: the caller guarantees both.
        unsafe {
            let mutator = StructuralMutator::from_object_unchecked(ObjectRef::borrow_raw(object));
            body(&mutator, AnyView::from_raw(value))
        }
    })
}

unsafe extern "C" fn mutate(mutator: *mut TVMFFIObject, value: TVMFFIAny) -> TVMFFIAny {
    // SAFETY: functions of the table are called with a mutator and a value.
    unsafe { serve(mutator, value, |m, value| run(m, value, InplaceMode::Disallow, Step::Mutate)) }
}

unsafe extern "C" fn maybe_inplace_mutate(
    mutator: *mut TVMFFIObject,
    value: TVMFFIAny,
) -> TVMFFIAny {
    // SAFETY: as above.
    unsafe { serve(mutator, value, |m, value| run(m, value, InplaceMode::Allow, Step::Mutate)) }
}

unsafe extern "C" fn var_remap_get(mutator: *mut TVMFFIObject, var: TVMFFIAny) -> TVMFFIAny {
    // SAFETY: as above.
    unsafe { serve(mutator, var, |mutator, var| engine_of(mutator)?.var_remap_get(var)) }
}

unsafe extern "C" fn var_remap_set(
    mutator: *mut TVMFFIObject,
    var: TVMFFIAny,
    mapped: TVMFFIAny,
) -> TVMFFIAny {
    let set = |mutator: &StructuralMutator, var: AnyView<'_>| {
        // SAFETY: functions of the table are called with live values.
        let mapped = unsafe { AnyView::from_raw(mapped) };
        engine_of(mutator)?.var_remap_set(var, mapped).map(|()| Any::NONE)
    };
    // SAFETY: as above.
    unsafe { serve(mutator, var, set) }
}

fn engine_of(mutator: &StructuralMutator) -> Result<&Engine> {
    Engine::of(mutator)
        .ok_or_else(|| plain_error!(TYPE_ERROR, "The mutator was not made by this library"))
}
