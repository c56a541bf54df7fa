//! This library's own visitors: callbacks by type, and an iterative walk.
//!
//! The callbacks of a visitor never change and the state of a walk is local, so threads and nested
//! calls may share a visitor. Only the definition region is stored in the visitor, where C++ code
//! reads it.

use core::ops::ControlFlow;

use ferrite_core::abi::{TVMFFIAny, TVMFFIObject, type_index};
use ferrite_core::error::{Error, Result};
use ferrite_core::platform::memory::Buffer;
use ferrite_core::platform::stack;
use ferrite_core::value::any::{Any, AnyView};

use super::children::VisitChildren;
use super::hooks::{visit_by_hook, visitor_of};
use super::order::WalkOrder;
use super::visitor::{COLUMN, VisitorVTable, interrupt_of};
use crate::reflection::{StructuralVisitor, VisitInterrupt};
use crate::structural::DefRegion;
use crate::structural::callbacks::Callbacks;
use crate::structural::error_context::add_visit_context;
use crate::structural::native::{call_function, serve, unexpected_result};
use crate::structural::walker;
use crate::walk::{Entered, Fold, Hooks, fold};

/// Walks over a value and calls a callback for every node except None. The first of `callbacks`
/// that accepts the node's type receives the node; if none does, the first of `with_region`
/// receives the node and its definition region.
///
/// A callback returns None or an int to continue, or an interrupt, which ends the walk and is
/// returned. In [`WalkOrder::Pre`], 1 skips the children of the node.
///
/// # Errors
/// Errors of callbacks, hooks and field getters, with a
/// [`VisitErrorContext`](crate::reflection::VisitErrorContext); TypeError for any other result of a
/// callback; ValueError if values or calls are nested too deeply; MemoryError.
///
/// # Upstream
/// `StructuralWalkExpected` in `structural_visit.cc`.
pub fn structural_walk(
    root: &Any,
    callbacks: Callbacks,
    with_region: Callbacks,
    order: WalkOrder,
) -> Result<Option<VisitInterrupt>> {
    run(VisitRule::Walk { callbacks, with_region, order }, root)
}

/// Visits a value. The first callback that accepts the type of a node receives the node and the
/// visitor, and may visit the children through the visitor. The children of nodes without a
/// callback are always visited. A callback returns None to continue, or an interrupt, which ends
/// the visit and is returned.
///
/// # Errors
/// Errors of [`structural_walk`].
///
/// # Upstream
/// `StructuralVisitExpected` in `structural_visit.cc`.
pub fn structural_visit(root: &Any, callbacks: Callbacks) -> Result<Option<VisitInterrupt>> {
    run(VisitRule::Visit(callbacks), root)
}

fn run(rule: VisitRule, root: &Any) -> Result<Option<VisitInterrupt>> {
    let visitor = walker::create(&VTABLE, VisitEngine { rule, hooks: Hooks::new(COLUMN) })?;
    stack::nest(|| {
        // SAFETY: the visitor was created with such an engine.
        walk(&visitor, unsafe { walker::engine_of::<_, VisitEngine>(&visitor) }, root.clone())
    })
}

/// State of a visitor of this library, stored after the common head.
struct VisitEngine {
    rule: VisitRule,
    hooks: Hooks,
}

enum VisitRule {
    Walk { callbacks: Callbacks, with_region: Callbacks, order: WalkOrder },
    Visit(Callbacks),
}

static VTABLE: VisitorVTable = VisitorVTable { visit: Some(visit_by_engine) };

/// Implements [`VisitorVTable::visit`] for visitors of this library: walks over a value.
///
/// # Safety
/// `visitor` must be null or a live visitor with `VTABLE`, and hence a [`VisitEngine`]; `value`
/// must be a valid value.
unsafe extern "C" fn visit_by_engine(visitor: *mut TVMFFIObject, value: TVMFFIAny) -> TVMFFIAny {
    serve(|| {
        // SAFETY: the caller guarantees the visitor.
        let visitor = unsafe { visitor_of(visitor)? };
        // SAFETY: the caller guarantees the value.
        let value = unsafe { AnyView::from_raw(value) }.to_owned()?;
        let outcome = stack::nest(|| {
            // SAFETY: the caller guarantees the engine.
            walk(&visitor, unsafe { walker::engine_of::<_, VisitEngine>(&visitor) }, value)
        });
        outcome.map(Any::from)
    })
}

/// Walks over a value in the visitor's current definition region, which is restored at the end.
fn walk(
    visitor: &StructuralVisitor,
    engine: &VisitEngine,
    value: Any,
) -> Result<Option<VisitInterrupt>> {
    let region = walker::region(visitor);
    walker::in_region(visitor, region, || {
        fold(&mut VisitWalk { visitor, engine }, VisitNode { value, region })
    })
}

/// The walk of a visitor over one value.
struct VisitWalk<'a> {
    visitor: &'a StructuralVisitor,
    engine: &'a VisitEngine,
}

struct VisitNode {
    value: Any,
    region: DefRegion,
}

struct VisitFrame {
    node: VisitNode,
    children: VisitChildren,
}

/// Outcome of entering a node.
enum Inside {
    /// The node is complete; carries the interrupt, if any.
    Done(Option<VisitInterrupt>),
    /// The node's children have to be visited.
    Open(VisitChildren),
}

/// Decision of a callback on how to continue.
enum VisitAnswer {
    GoOn,
    Skip,
    Interrupt(VisitInterrupt),
}

impl Fold for VisitWalk<'_> {
    type Node = VisitNode;
    type Frame = VisitFrame;
    type Value = Option<VisitInterrupt>;
    const NAME: &'static str = "StructuralVisit";

    fn enter(
        &mut self,
        node: VisitNode,
        _: &mut Buffer<VisitFrame>,
    ) -> Result<Entered<VisitFrame, Option<VisitInterrupt>>> {
        if node.value.is_none() {
            return Ok(Entered::Value(None));
        }
        walker::set_region(self.visitor, node.region);
        match self.enter_node(&node) {
            Ok(Inside::Done(outcome)) => Ok(Entered::Value(outcome)),
            Ok(Inside::Open(children)) => Ok(Entered::Frame(VisitFrame { node, children })),
            Err(mut error) => {
                add_visit_context(&mut error, node.value.view());
                Err(error)
            }
        }
    }

    fn next(&mut self, frame: &mut VisitFrame) -> Result<Option<VisitNode>> {
        Ok(frame.children.next()?.map(|(value, region)| VisitNode { value, region }))
    }

    fn feed(
        &mut self,
        _: &mut VisitFrame,
        interrupt: Option<VisitInterrupt>,
    ) -> Result<ControlFlow<Option<VisitInterrupt>>> {
        Ok(match interrupt {
            Some(interrupt) => ControlFlow::Break(Some(interrupt)),
            None => ControlFlow::Continue(()),
        })
    }

    fn leave(&mut self, frame: &mut VisitFrame) -> Result<Option<VisitInterrupt>> {
        self.after(&frame.node)
    }

    fn failed(&mut self, frame: &VisitFrame, error: &mut Error) {
        add_visit_context(error, frame.node.value.view());
    }

    fn abandon(&mut self, _: VisitFrame) {}
}

impl VisitWalk<'_> {
    fn enter_node(&self, node: &VisitNode) -> Result<Inside> {
        match self.before(node)? {
            VisitAnswer::GoOn => {}
            VisitAnswer::Skip => return Ok(Inside::Done(None)),
            VisitAnswer::Interrupt(interrupt) => return Ok(Inside::Done(Some(interrupt))),
        }
        let interrupt = match visit_by_hook(self.engine.hooks, self.visitor, &node.value) {
            Some(outcome) => outcome?,
            None => match VisitChildren::of(&node.value, node.region)? {
                Some(children) => return Ok(Inside::Open(children)),
                None => None,
            },
        };
        if interrupt.is_some() {
            Ok(Inside::Done(interrupt))
        } else {
            self.after(node).map(Inside::Done)
        }
    }

    /// Calls the callback that runs before the children of a node are visited.
    fn before(&self, node: &VisitNode) -> Result<VisitAnswer> {
        match &self.engine.rule {
            VisitRule::Walk { order: WalkOrder::Pre, .. } => self.call_back(node),
            VisitRule::Walk { order: WalkOrder::Post, .. } => Ok(VisitAnswer::GoOn),
            VisitRule::Visit(callbacks) => {
                let Some(callback) = callbacks.find(node.value.type_index()) else {
                    return Ok(VisitAnswer::GoOn);
                };
                let arguments = [node.value.view(), AnyView::from(self.visitor)];
                let interrupt = interrupt_of(call_function(&callback.function, &arguments)?)?;
                Ok(interrupt.map_or(VisitAnswer::Skip, VisitAnswer::Interrupt))
            }
        }
    }

    /// Calls the callback that runs after the children of a node have been visited.
    fn after(&self, node: &VisitNode) -> Result<Option<VisitInterrupt>> {
        let VisitRule::Walk { order: WalkOrder::Post, .. } = &self.engine.rule else {
            return Ok(None);
        };
        walker::set_region(self.visitor, node.region);
        match self.call_back(node)? {
            VisitAnswer::Interrupt(interrupt) => Ok(Some(interrupt)),
            VisitAnswer::GoOn | VisitAnswer::Skip => Ok(None),
        }
    }

    fn call_back(&self, node: &VisitNode) -> Result<VisitAnswer> {
        let VisitRule::Walk { callbacks, with_region, .. } = &self.engine.rule else {
            return Ok(VisitAnswer::GoOn);
        };
        let index = node.value.type_index();
        if let Some(callback) = callbacks.find(index) {
            return answer_of(call_function(&callback.function, &[node.value.view()])?);
        }
        match with_region.find(index) {
            Some(callback) => {
                let arguments = [node.value.view(), AnyView::from(node.region.as_raw())];
                answer_of(call_function(&callback.function, &arguments)?)
            }
            None => Ok(VisitAnswer::GoOn),
        }
    }
}

/// Converts the result of a callback of [`structural_walk`].
///
/// # Upstream
/// `WalkResult` in `extra/structural_visit.h`.
fn answer_of(result: Any) -> Result<VisitAnswer> {
    Ok(match result.type_index() {
        type_index::NONE => VisitAnswer::GoOn,
        type_index::VISIT_INTERRUPT => VisitAnswer::Interrupt(result.get()?),
        _ => match result.try_get::<i32>()? {
            Some(1) => VisitAnswer::Skip,
            Some(_) => VisitAnswer::GoOn,
            None => return Err(unexpected_result(&|out| out.put(b"WalkResult"), &result)),
        },
    })
}
