//! Global functions for structural visits and walks, and for error contexts.
#![forbid(unsafe_code)]

use ferrite_core::abi::TVMFFIDefRegionKind;
use ferrite_core::call::function::Function;
use ferrite_core::error::Result;
use ferrite_core::names::builtins::StaticFunction;
use ferrite_core::object::ObjectRef;
use ferrite_core::platform::stack;
use ferrite_core::static_function;
use ferrite_core::value::any::Any;

use super::{WalkOrder, engine, hooks, visitor};
use crate::containers::Array;
use crate::reflection::{AccessPath, StructuralVisitor, VisitErrorContext, VisitInterrupt};
use crate::structural::DefRegion;
use crate::structural::any_arg::AnyArg;
use crate::structural::callbacks::{CallbackEntries, Callbacks};
use crate::structural::walker;

/// Static function table of this module.
///
/// # Upstream
/// The registrations in `structural_visit.cc` and `visit_error_context.cc`.
pub static FUNCTIONS: &[StaticFunction] = &[
    static_function!("ffi.StructuralVisit", structural_visit),
    static_function!("ffi.StructuralVisitorDefRegionKind", def_region_kind),
    static_function!("ffi.StructuralVisitorDefaultVisit", default_visit),
    static_function!("ffi.StructuralVisitorVisit", visit),
    static_function!("ffi.StructuralVisitorWithDefRegionKind", with_def_region_kind),
    static_function!("ffi.StructuralWalk", structural_walk),
    static_function!("ffi.VisitErrorContext.FindAccessPaths", find_access_paths),
    static_function!("ffi.VisitInterrupt", VisitInterrupt::new),
];

pub(in crate::structural) fn structural_walk(
    root: AnyArg,
    callbacks: CallbackEntries,
    with_region: CallbackEntries,
    order: i32,
) -> Result<Option<VisitInterrupt>> {
    let order = if order == 0 { WalkOrder::Pre } else { WalkOrder::Post };
    engine::structural_walk(
        &root.0,
        Callbacks::new(&callbacks)?,
        Callbacks::new(&with_region)?,
        order,
    )
}

pub(in crate::structural) fn structural_visit(
    root: AnyArg,
    callbacks: CallbackEntries,
) -> Result<Option<VisitInterrupt>> {
    engine::structural_visit(&root.0, Callbacks::new(&callbacks)?)
}

pub(in crate::structural) fn visit(
    visitor: StructuralVisitor,
    value: AnyArg,
) -> Result<Option<VisitInterrupt>> {
    stack::nest(|| visitor::visit(&visitor, value.0.view()))
}

pub(in crate::structural) fn default_visit(
    visitor: StructuralVisitor,
    value: AnyArg,
) -> Result<Option<VisitInterrupt>> {
    hooks::default_visit(&visitor, &value.0)
}

fn def_region_kind(visitor: StructuralVisitor) -> TVMFFIDefRegionKind {
    walker::region(&visitor).as_raw()
}

fn with_def_region_kind(
    visitor: StructuralVisitor,
    kind: TVMFFIDefRegionKind,
    callback: Function,
) -> Result<Any> {
    let region = walker::region(&visitor).enter(DefRegion::from_raw(kind));
    walker::in_region(&visitor, region, || callback.call_packed(&[]))
}

fn find_access_paths(
    root: ObjectRef,
    context: VisitErrorContext,
    allow_prefix_match: bool,
) -> Result<Array<AccessPath>> {
    super::find_access_paths(root, &context, allow_prefix_match)
}
