//! Global functions for structural maps and mutations.
#![forbid(unsafe_code)]

use ferrite_core::call::function::Function;
use ferrite_core::error::Result;
use ferrite_core::names::builtins::StaticFunction;
use ferrite_core::static_function;
use ferrite_core::value::any::{Any, AnyView};

use super::engine::{self, Engine};
use super::mutator::{self, InplaceMode};
use super::node::Step;
use super::rule::{MapCallbacks, Rule};
use super::unchanged::value_or;
use crate::containers::{Array, Tuple};
use crate::reflection::StructuralMutator;
use crate::structural::DefRegion;
use crate::structural::any_arg::AnyArg;
use crate::structural::callbacks::{CallbackEntries, Callbacks};
use crate::structural::native;
use crate::structural::walker;

/// Static function table of this module.
///
/// # Upstream
/// The registrations in `structural_mutate.cc`.
pub static FUNCTIONS: &[StaticFunction] = &[
    static_function!("ffi.StructuralMap", structural_map),
    static_function!("ffi.StructuralMutate", structural_mutate),
    static_function!("ffi.StructuralMutatorDefRegionKind", def_region_kind),
    static_function!("ffi.StructuralMutatorDefaultMutate", default_mutate),
    static_function!("ffi.StructuralMutatorMutate", mutate),
    static_function!("ffi.StructuralMutatorVarRemapGet", var_remap_get),
    static_function!("ffi.StructuralMutatorVarRemapSet", var_remap_set),
    static_function!("ffi.StructuralMutatorWithDefRegionKind", with_def_region_kind),
];

/// Value of the `order` argument for pre-order: callbacks run before children are mapped.
const PRE_ORDER: i32 = 0;

pub(in crate::structural) fn structural_map(
    root: Any,
    callbacks: CallbackEntries,
    callbacks_with_region: CallbackEntries,
    order: i32,
) -> Result<Any> {
    let plain = Callbacks::new(&callbacks)?;
    let with_region = Callbacks::new(&callbacks_with_region)?;
    let callbacks = MapCallbacks { plain, with_region };
    let rule =
        if order == PRE_ORDER { Rule::PreOrder(callbacks) } else { Rule::PostOrder(callbacks) };
    follow(rule, root)
}

pub(in crate::structural) fn structural_mutate(
    root: Any,
    callbacks: Array<Tuple<(i32, Function, bool)>>,
) -> Result<Any> {
    follow(Rule::Mutate(Callbacks::with_flags(&callbacks)?), root)
}

/// Rewrites a value by a rule, and returns the result. May change the value in place if `root` is
/// its only reference.
pub(super) fn follow(rule: Rule, root: Any) -> Result<Any> {
    let mutator = Engine::mutator(rule)?;
    let mode = InplaceMode::Allow.inside(root.view());
    let answer = engine::run(&mutator, root.view(), mode, Step::Mutate)?;
    Ok(value_or(answer, root))
}

pub(in crate::structural) fn mutate(mutator: StructuralMutator, value: AnyArg) -> Result<Any> {
    run(&mutator, value.0, Step::Mutate)
}

pub(in crate::structural) fn default_mutate(
    mutator: StructuralMutator,
    value: AnyArg,
) -> Result<Any> {
    run(&mutator, value.0, Step::Default)
}

fn run(mutator: &StructuralMutator, value: Any, step: Step) -> Result<Any> {
    let answer = engine::run(mutator, value.view(), InplaceMode::Disallow, step)?;
    Ok(value_or(answer, value))
}

/// Rewrites the children of a value in place. Returns the value, or `None` and changes nothing if
/// there are other references to it.
pub(in crate::structural) fn mutate_in_place(
    mutator: &StructuralMutator,
    value: AnyView<'_>,
) -> Result<Option<Any>> {
    if InplaceMode::Allow.inside(value) != InplaceMode::Allow {
        return Ok(None);
    }
    let answer = engine::run(mutator, value, InplaceMode::Allow, Step::Default)?;
    Ok(Some(value_or(answer, value.to_owned()?)))
}

pub(in crate::structural) fn var_remap_get(mutator: StructuralMutator, var: AnyArg) -> Result<Any> {
    mutator::var_remap_get(&mutator, var.0.view())
}

pub(in crate::structural) fn var_remap_set(
    mutator: StructuralMutator,
    var: AnyArg,
    mapped_value: AnyArg,
) -> Result<()> {
    mutator::var_remap_set(&mutator, var.0.view(), mapped_value.0.view())
}

fn def_region_kind(mutator: StructuralMutator) -> i32 {
    walker::region(&mutator).as_raw()
}

fn with_def_region_kind(mutator: StructuralMutator, kind: i32, callback: Function) -> Result<Any> {
    let region = walker::region(&mutator).enter(DefRegion::from_raw(kind));
    walker::in_region(&mutator, region, || native::call_function(&callback, &[]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_reach_into_callbacks() -> Result<()> {
        let mutator = Engine::mutator(Rule::PostOrder(MapCallbacks::default()))?;
        let (pattern, simple) = (DefRegion::PATTERN.as_raw(), DefRegion::SIMPLE.as_raw());
        for (outer, inner, expected) in
            [(pattern, simple, pattern), (simple, pattern, pattern), (0, simple, simple)]
        {
            let walker = mutator.clone();
            let ask = Function::from_typed(move || def_region_kind(walker.clone()))?;
            let walker = mutator.clone();
            let enter = move || with_def_region_kind(walker.clone(), inner, ask.clone());
            let kind = with_def_region_kind(mutator.clone(), outer, Function::from_typed(enter)?)?;
            assert_eq!(kind.get::<i32>()?, expected);
            assert_eq!(def_region_kind(mutator.clone()), 0);
        }
        Ok(())
    }

    #[test]
    fn unreplaced_values_are_the_result() -> Result<()> {
        let mutator = Engine::mutator(Rule::PostOrder(MapCallbacks::default()))?;
        let array = Any::new(crate::containers::ArrayObject::with_capacity(0)?);
        for answer in [
            mutate(mutator.clone(), AnyArg(array.clone()))?,
            default_mutate(mutator.clone(), AnyArg(array.clone()))?,
            structural_map(array.clone(), Array::new()?, Array::new()?, PRE_ORDER)?,
            structural_mutate(array.clone(), Array::new()?)?,
        ] {
            assert_eq!(answer.view().payload_bits(), array.view().payload_bits());
        }
        Ok(())
    }
}
