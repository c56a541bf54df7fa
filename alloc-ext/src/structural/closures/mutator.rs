//! Mutator: the context that closures of a mutation receive, with the current node.

use core::cell::RefMut;

use ferrite_core::error::Result;
use ferrite_core::value::any::{Any, AnyView};
use ferrite_core::value::convert::{AnyCompatible, FromAny};

use super::visitor::Lend;
use crate::reflection::StructuralMutator;
use crate::structural::any_arg::AnyArg;
use crate::structural::{DefRegion, operations, walker};

/// A mutation at one node: rewrites children with the same closures, and gives access to the state
/// of the mutation.
///
/// # Upstream
/// `MutateContext` of the crate `tvm-ffi`.
pub struct Mutator<'a, S = ()> {
    pub(super) mutator: &'a StructuralMutator,
    pub(super) node: AnyView<'a>,
    pub(super) state: &'a (dyn Lend<S> + 'a),
    /// Whether no value on the path from the root to the node is shared.
    pub(super) is_unshared: bool,
}

impl<S> Mutator<'_, S> {
    /// Borrows the state of the mutation.
    ///
    /// # Panics
    /// If an earlier borrow was leaked by `mem::forget`.
    pub fn state(&mut self) -> RefMut<'_, S> {
        self.state.lend()
    }

    /// Returns the definition region of the node.
    pub fn region(&self) -> DefRegion {
        walker::region(self.mutator)
    }

    /// Rewrites the children of the node, and returns the node with the new children: the same
    /// object if none changes, otherwise a copy. A container with no other reference is changed in
    /// place, provided that the closure takes it as a [`Node`](super::Node) instead of borrowing
    /// it.
    ///
    /// # Errors
    /// Errors of closures, hooks, field getters and setters; TypeError for an object that cannot be
    /// copied, or if the result does not convert to `R`; ValueError if calls are nested too deeply.
    pub fn mutate_children<R: FromAny>(&mut self) -> Result<R> {
        if self.is_unshared
            && let Some(changed) = operations::mutate_in_place(self.mutator, self.node)?
        {
            return changed.into_value();
        }
        operations::default_mutate(self.mutator.clone(), AnyArg(self.node.to_owned()?))?
            .into_value()
    }

    /// Rewrites a value, which need not be a child of the node, and returns the result. The value
    /// itself is not changed.
    ///
    /// # Errors
    /// Same errors as [`mutate_children`](Self::mutate_children).
    pub fn mutate<R: FromAny>(&mut self, value: &impl AnyCompatible) -> Result<R> {
        operations::mutate(self.mutator.clone(), AnyArg(value.view().to_owned()?))?.into_value()
    }

    /// Returns the replacement of a variable or graph node; `None` if none was set.
    ///
    /// # Errors
    /// TypeError for a value that is not an object.
    pub fn replacement(&mut self, variable: &impl AnyCompatible) -> Result<Option<Any>> {
        let known =
            operations::var_remap_get(self.mutator.clone(), AnyArg(variable.view().to_owned()?))?;
        Ok((!known.is_none()).then_some(known))
    }

    /// Sets the replacement of a variable or graph node, used wherever the walk reaches it again.
    ///
    /// # Errors
    /// TypeError if the variable is not an object; MemoryError.
    pub fn replace(
        &mut self,
        variable: &impl AnyCompatible,
        replacement: &impl AnyCompatible,
    ) -> Result<()> {
        let (variable, replacement) = (variable.view().to_owned()?, replacement.view().to_owned()?);
        operations::var_remap_set(self.mutator.clone(), AnyArg(variable), AnyArg(replacement))
    }

    /// Calls `body` in a definition region: variables that it rewrites are defined there. An
    /// enclosing pattern region extends to everything inside it.
    pub fn in_region<R>(&mut self, region: DefRegion, body: impl FnOnce(&mut Self) -> R) -> R {
        let mutator = self.mutator;
        walker::in_region(mutator, self.region().enter(region), || body(self))
    }
}
