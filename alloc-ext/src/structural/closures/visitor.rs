//! Visitor: the context that closures of a visit receive, with the current node.

use core::cell::{RefCell, RefMut};

use ferrite_core::error::Result;
use ferrite_core::value::any::AnyView;
use ferrite_core::value::convert::AnyCompatible;

use super::answers::Flow;
use crate::reflection::{StructuralVisitor, VisitInterrupt};
use crate::structural::any_arg::AnyArg;
use crate::structural::{DefRegion, operations, walker};

/// A visit at one node: visits children with the same closures, and gives access to the state of
/// the visit.
///
/// # Upstream
/// `VisitContext` of the crate `tvm-ffi`.
pub struct Visitor<'a, S = ()> {
    pub(super) visitor: &'a StructuralVisitor,
    pub(super) node: AnyView<'a>,
    pub(super) state: &'a (dyn Lend<S> + 'a),
}

impl<S> Visitor<'_, S> {
    /// Borrows the state of the visit.
    ///
    /// # Panics
    /// If an earlier borrow was leaked by `mem::forget`.
    pub fn state(&mut self) -> RefMut<'_, S> {
        self.state.lend()
    }

    /// Returns the definition region of the node.
    pub fn region(&self) -> DefRegion {
        walker::region(self.visitor)
    }

    /// Visits the children of the node: its elements, the values of its entries, or its fields;
    /// types may define their own.
    ///
    /// # Errors
    /// Errors of closures, hooks and field getters; ValueError if calls are nested too deeply.
    pub fn visit_children(&mut self) -> Result<Flow> {
        flow_of(operations::default_visit(self.visitor.clone(), AnyArg(self.node.to_owned()?))?)
    }

    /// Visits a value, which need not be a child of the node.
    ///
    /// # Errors
    /// Same errors as [`visit_children`](Self::visit_children).
    pub fn visit<T: AnyCompatible>(&mut self, value: &T) -> Result<Flow> {
        flow_of(operations::visit(self.visitor.clone(), AnyArg(value.view().to_owned()?))?)
    }

    /// Calls `body` in a definition region: variables that it visits are defined there. An
    /// enclosing pattern region extends to everything inside it.
    pub fn in_region<R>(&mut self, region: DefRegion, body: impl FnOnce(&mut Self) -> R) -> R {
        let visitor = self.visitor;
        walker::in_region(visitor, self.region().enter(region), || body(self))
    }
}

/// The state of a visit or mutation, which one closure at a time borrows.
pub trait Lend<S> {
    /// Borrows the state.
    fn lend(&self) -> RefMut<'_, S>;
}

impl<S> Lend<S> for RefCell<&mut S> {
    fn lend(&self) -> RefMut<'_, S> {
        RefMut::map(self.borrow_mut(), |state| &mut **state)
    }
}

/// Converts an interrupt to the flow of a visit.
pub(super) fn flow_of(interrupt: Option<VisitInterrupt>) -> Result<Flow> {
    Ok(interrupt.map_or(Flow::Continue(()), |interrupt| Flow::Break(interrupt.value())))
}
