//! Structural visits and mutations of the loaded `libtvm_ffi`, and its visitors and mutators.

use ferrite_core::abi::type_index;
use ferrite_core::call::function::Function;
use ferrite_core::error::Result;
use ferrite_core::names::type_table;
use ferrite_core::object::{ObjectClass, refcount};
use ferrite_core::value::any::{Any, AnyView};

use super::any_arg::AnyArg;
use super::native;
use super::walker::Walker;
use crate::containers::{Array, Tuple};
use crate::global_function::{library_function, with_moved};
use crate::reflection::{StructuralMutator, StructuralVisitor, VisitInterrupt};

// SAFETY: visitors start with the head (ABI); their table is not read here.
unsafe impl Walker for StructuralVisitor {
    type VTable = ();

    fn class_index() -> Result<i32> {
        Ok(StructuralVisitor::type_index())
    }
}

// SAFETY: as for visitors.
unsafe impl Walker for StructuralMutator {
    type VTable = ();

    fn class_index() -> Result<i32> {
        Ok(StructuralMutator::type_index())
    }
}

type Entries = Array<Tuple<(i32, Function)>>;

pub(super) fn structural_walk(
    root: AnyArg,
    callbacks: Entries,
    with_region: Entries,
    order: i32,
) -> Result<Option<VisitInterrupt>> {
    library_function!("ffi.StructuralWalk").call((&root, callbacks, with_region, order))
}

pub(super) fn structural_visit(root: AnyArg, callbacks: Entries) -> Result<Option<VisitInterrupt>> {
    library_function!("ffi.StructuralVisit").call((&root, callbacks))
}

pub(super) fn visit(visitor: StructuralVisitor, value: AnyArg) -> Result<Option<VisitInterrupt>> {
    library_function!("ffi.StructuralVisitorVisit").call((visitor, &value))
}

pub(super) fn default_visit(
    visitor: StructuralVisitor,
    value: AnyArg,
) -> Result<Option<VisitInterrupt>> {
    library_function!("ffi.StructuralVisitorDefaultVisit").call((visitor, &value))
}

pub(super) fn structural_map(
    root: Any,
    callbacks: Entries,
    with_region: Entries,
    order: i32,
) -> Result<Any> {
    let map = library_function!("ffi.StructuralMap");
    with_moved(root, |root: AnyView<'_>| map.call((root, callbacks, with_region, order)))
}

pub(super) fn structural_mutate(
    root: Any,
    callbacks: Array<Tuple<(i32, Function, bool)>>,
) -> Result<Any> {
    let mutate = library_function!("ffi.StructuralMutate");
    with_moved(root, |root: AnyView<'_>| mutate.call((root, callbacks)))
}

pub(super) fn mutate(mutator: StructuralMutator, value: AnyArg) -> Result<Any> {
    library_function!("ffi.StructuralMutatorMutate").call((mutator, &value))
}

pub(super) fn default_mutate(mutator: StructuralMutator, value: AnyArg) -> Result<Any> {
    library_function!("ffi.StructuralMutatorDefaultMutate").call((mutator, &value))
}

/// Rewrites the children of a value in place, by the hook of its type. Returns the value, or `None`
/// and changes nothing if there are other references to it, or no such hook.
pub(super) fn mutate_in_place(
    mutator: &StructuralMutator,
    value: AnyView<'_>,
) -> Result<Option<Any>> {
    const COLUMN: &str = "__s_maybe_inplace_mutate__";
    // SAFETY: the view borrows a live object.
    let is_unique =
        value.object_ptr().is_some_and(|object| unsafe { refcount::is_unique(object.as_ptr()) });
    let hook = type_table::attr(value.type_index(), COLUMN.as_bytes());
    if !is_unique || hook.is_none() {
        return Ok(None);
    }
    // SAFETY: the hook comes from the column of hooks for mutators.
    let answer = unsafe { native::call_hook(COLUMN, hook, mutator, value)? };
    if answer.type_index() == type_index::UNCHANGED {
        value.to_owned().map(Some)
    } else {
        Ok(Some(answer))
    }
}

pub(super) fn var_remap_get(mutator: StructuralMutator, var: AnyArg) -> Result<Any> {
    library_function!("ffi.StructuralMutatorVarRemapGet").call((mutator, &var))
}

pub(super) fn var_remap_set(mutator: StructuralMutator, var: AnyArg, mapped: AnyArg) -> Result<()> {
    library_function!("ffi.StructuralMutatorVarRemapSet").call((mutator, &var, &mapped))
}
