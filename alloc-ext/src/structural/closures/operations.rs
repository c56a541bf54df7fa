//! Structural operations as methods of all values.

use core::cell::RefCell;

use ferrite_core::call::function::Function;
use ferrite_core::error::{Error, Result};
use ferrite_core::value::any::{Any, AnyView};
use ferrite_core::value::convert::{AnyCompatible, FromAny};
use ferrite_core::{plain_bail, plain_error};

use super::answers::{Flow, Walk};
use super::links::{Callbacks, Recursive};
use super::mutator::Mutator;
use super::types::Types;
use super::visitor::Visitor;
use crate::containers::Array;
use crate::reflection::{AccessPath, StructuralMutator, StructuralVisitor, VisitInterrupt};
use crate::structural::any_arg::AnyArg;
use crate::structural::equal::{
    Options, first_structural_mismatch, structural_equal, structural_hash,
};
use crate::structural::visit::WalkOrder;
use crate::structural::{DefRegion, operations};

/// Structural operations on values: by content, with variables identified by the place of their
/// definition instead of their name.
///
/// [`structural_walk`](Self::structural_walk) and [`structural_map`](Self::structural_map) reach
/// all nodes by themselves; [`structural_visit`](Self::structural_visit) and
/// [`structural_mutate`](Self::structural_mutate) leave it to the closure to visit the children of
/// a node. Closures choose their nodes by the type of their parameter; see [`Callbacks`].
///
/// # Upstream
/// `extra/structural_equal.h`, `extra/structural_hash.h`, `extra/structural_visit.h` and
/// `extra/structural_mutate.h`.
pub trait Structural: AnyCompatible {
    /// Returns `true` if this value and another are structurally equal.
    ///
    /// Numbers are compared by type and bits, except that all NaNs are equal. Strings are compared
    /// by content, and maps regardless of insertion order.
    ///
    /// # Examples
    /// ```
    /// # use ferrite_alloc_ext as ferrite;
    /// use ferrite::{json, structural::Structural};
    ///
    /// # fn main() -> ferrite_core::Result<()> {
    /// let (a, b) = (json::parse(br#"{"x": [1, 2], "y": 3}"#)?, json::parse(br#"{"y": 3, "x": [1, 2]}"#)?);
    /// assert!(a.structural_equal(&b)?);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// TypeError for an object whose type has no structural kind; InternalError for tensors that
    /// are not contiguous in CPU memory and whose content must be compared; ValueError for values
    /// that are nested too deeply, or contain themselves; errors of hooks and field getters;
    /// MemoryError.
    fn structural_equal(&self, other: &impl AnyCompatible) -> Result<bool> {
        self.structural_equal_with(other, Options::default())
    }

    /// Returns `true` if this value and another are structurally equal, with the given options.
    ///
    /// # Errors
    /// Errors of [`structural_equal`](Self::structural_equal).
    fn structural_equal_with(&self, other: &impl AnyCompatible, options: Options) -> Result<bool> {
        structural_equal(&self.view().to_owned()?, &other.view().to_owned()?, options)
    }

    /// Returns the structural hash. Structurally equal values have equal hashes, in all processes,
    /// but for variables that they use without defining them.
    ///
    /// # Examples
    /// ```
    /// # use ferrite_alloc_ext as ferrite;
    /// use ferrite::{containers::Array, structural::Structural};
    ///
    /// # fn main() -> ferrite_core::Result<()> {
    /// let (a, b) = (Array::from_slice(&[1, 2])?, Array::from_slice(&[1, 2])?);
    /// assert_eq!(a.structural_hash()?, b.structural_hash()?);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Errors of [`structural_equal`](Self::structural_equal).
    fn structural_hash(&self) -> Result<u64> {
        self.structural_hash_with(Options::default())
    }

    /// Returns the structural hash with the given options.
    ///
    /// # Errors
    /// Errors of [`structural_equal`](Self::structural_equal).
    fn structural_hash_with(&self, options: Options) -> Result<u64> {
        structural_hash(&self.view().to_owned()?, options)
    }

    /// Returns the paths, in this value and in another, to their first difference; `None` if they
    /// are structurally equal.
    ///
    /// # Examples
    /// ```
    /// # use ferrite_alloc_ext as ferrite;
    /// use ferrite::{json, reflection, structural::Structural};
    ///
    /// # fn main() -> ferrite_core::Result<()> {
    /// # reflection::install()?;
    /// let (a, b) = (json::parse(b"[1, [2]]")?, json::parse(b"[1, [3]]")?);
    /// let (path, _) = a.first_structural_mismatch(&b)?.expect("2 is not 3");
    /// assert_eq!(path.depth(), 2); // [1][0]
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Errors of [`structural_equal`](Self::structural_equal).
    fn first_structural_mismatch(
        &self,
        other: &impl AnyCompatible,
    ) -> Result<Option<(AccessPath, AccessPath)>> {
        self.first_structural_mismatch_with(other, Options::default())
    }

    /// Returns the paths to the first difference as
    /// [`first_structural_mismatch`](Self::first_structural_mismatch), with the given options.
    ///
    /// # Errors
    /// Errors of [`structural_equal`](Self::structural_equal).
    fn first_structural_mismatch_with(
        &self,
        other: &impl AnyCompatible,
        options: Options,
    ) -> Result<Option<(AccessPath, AccessPath)>> {
        first_structural_mismatch(&self.view().to_owned()?, &other.view().to_owned()?, options)
    }

    /// Calls closures for the nodes of this value, itself included, before or after their children.
    /// None is not a node. Returns the value of the interrupt that a closure returned, if any.
    ///
    /// Closures may be `FnMut`, and return `()`, a [`Walk`], or a `Result` of one.
    ///
    /// # Examples
    /// ```
    /// # use ferrite_alloc_ext as ferrite;
    /// use ferrite::containers::Array;
    /// use ferrite::structural::{Structural, Walk, WalkOrder};
    /// use ferrite::json;
    ///
    /// # fn main() -> ferrite_core::Result<()> {
    /// let value = json::parse(br#"[1, [2, "three"], 4]"#)?;
    /// let (mut sum, mut strings) = (0, 0);
    /// value.structural_walk(WalkOrder::Pre, (|n: i64| sum += n, |_: &str| strings += 1))?;
    /// assert_eq!((sum, strings), (7, 1));
    ///
    /// // Finds the first number above 1 that is not in an array inside.
    /// let found = value.structural_walk(WalkOrder::Pre, (
    ///     |n: i64| if n > 1 { Walk::interrupt(n) } else { Ok(Walk::Continue) },
    ///     |a: Array<ferrite_core::Any>| if a.len() == 2 { Walk::Skip } else { Walk::Continue },
    /// ))?;
    /// assert_eq!(found.unwrap_or_default().get::<i64>()?, 4);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Errors of closures, hooks and field getters, with the path to the node as context;
    /// ValueError for values that are nested too deeply; MemoryError.
    ///
    /// # Upstream
    /// `structural_walk` of the crate `tvm-ffi`.
    fn structural_walk<M, C: Callbacks<Walk, M>>(
        &self,
        order: WalkOrder,
        closures: C,
    ) -> Result<Option<Any>> {
        let closures = RefCell::new(closures);
        let root = self.view().to_owned()?;
        let interrupt = with_callbacks(
            C::add_types,
            &|args| answer_walk(call(&closures, args)?),
            |function, types| {
                let callbacks = types.callbacks(function)?;
                operations::structural_walk(AnyArg(root), Array::new()?, callbacks, order as i32)
            },
        )?;
        Ok(interrupt.map(|interrupt| interrupt.value()))
    }

    /// Calls closures for the nodes of this value, which leave it to the closures whether the
    /// children of a node are visited, by [`Visitor::visit_children`] and [`Visitor::visit`]. The
    /// children of nodes that no closure accepts are visited. Returns the value of the interrupt
    /// that a closure returned, if any.
    ///
    /// Closures take the node and a [`Visitor`], are `Fn`, and return `()`, `ControlFlow<Any>`, or
    /// a `Result` of one.
    ///
    /// # Examples
    /// ```
    /// # use ferrite_alloc_ext as ferrite;
    /// use ferrite::containers::Array;
    /// use ferrite::structural::{Structural, Visitor};
    /// use ferrite::json;
    /// use ferrite_core::Any;
    /// use core::cell::Cell;
    ///
    /// # fn main() -> ferrite_core::Result<()> {
    /// let (depth, deepest) = (Cell::new(0), Cell::new(0));
    /// json::parse(b"[1, [2, [3]], 4]")?.structural_visit(|_: Array<Any>, v: &mut Visitor| {
    ///     depth.set(depth.get() + 1);
    ///     deepest.set(deepest.get().max(depth.get()));
    ///     let flow = v.visit_children();
    ///     depth.set(depth.get() - 1);
    ///     flow
    /// })?;
    /// assert_eq!(deepest.get(), 3);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Errors of [`structural_walk`](Self::structural_walk).
    ///
    /// # Upstream
    /// `structural_visit` of the crate `tvm-ffi`.
    fn structural_visit<M, C>(&self, closures: C) -> Result<Option<Any>>
    where
        C: for<'a> Recursive<Visitor<'a>, Flow, M>,
    {
        self.structural_visit_with(&mut (), closures)
    }

    /// Visits as [`structural_visit`](Self::structural_visit), with a state that [`Visitor::state`]
    /// lends to the closures.
    ///
    /// # Examples
    /// ```
    /// # use ferrite_alloc_ext as ferrite;
    /// use ferrite::structural::{Structural, Visitor};
    /// use ferrite::json;
    ///
    /// # fn main() -> ferrite_core::Result<()> {
    /// let mut numbers = Vec::new();
    /// json::parse(b"[3, [1, 2]]")?
    ///     .structural_visit_with(&mut numbers, |n: i64, v: &mut Visitor<Vec<i64>>| v.state().push(n))?;
    /// assert_eq!(numbers, [3, 1, 2]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Errors of [`structural_walk`](Self::structural_walk).
    ///
    /// # Upstream
    /// `VisitCallbacks` of the crate `tvm-ffi`.
    fn structural_visit_with<S, M, C>(&self, state: &mut S, closures: C) -> Result<Option<Any>>
    where
        C: for<'a> Recursive<Visitor<'a, S>, Flow, M>,
    {
        let (state, root) = (RefCell::new(state), self.view().to_owned()?);
        let visit = |args: &[AnyView<'_>]| {
            let (node, visitor) = node_and::<StructuralVisitor>(args)?;
            let mut visitor = Visitor { visitor: &visitor, node: *node, state: &state };
            let flow = match closures.call(node, &mut visitor)? {
                Some(flow) => flow,
                None => visitor.visit_children()?,
            };
            answer_flow(flow)
        };
        let interrupt = with_callbacks(C::add_types, &visit, |function, types| {
            operations::structural_visit(AnyArg(root), types.callbacks(function)?)
        })?;
        Ok(interrupt.map(|interrupt| interrupt.value()))
    }

    /// Replaces the nodes of this value, itself included, by the results of closures, before or
    /// after their children. Nodes that no closure accepts are kept. Returns the new value, which
    /// shares unchanged parts; objects without another reference are changed in place.
    ///
    /// The keys of maps are not replaced. Closures may be `FnMut`, and return a value or a `Result`
    /// of one. In pre-order, the children of the replacement are mapped, too.
    ///
    /// # Examples
    /// ```
    /// # use ferrite_alloc_ext as ferrite;
    /// use ferrite::containers::Array;
    /// use ferrite::structural::{Structural, WalkOrder};
    ///
    /// # fn main() -> ferrite_core::Result<()> {
    /// let numbers = Array::from_slice(&[1, 2, 3])?;
    /// let doubled: Array<i64> = numbers.clone().structural_map(WalkOrder::Post, |n: i64| 2 * n)?;
    /// assert_eq!((doubled.get(2)?, numbers.get(2)?), (6, 3));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Errors of [`structural_walk`](Self::structural_walk), and of field setters; TypeError for an
    /// object that cannot be copied, or if the result is no `R`. Changes in place are not reverted.
    ///
    /// # Upstream
    /// `structural_map` of the crate `tvm-ffi`.
    fn structural_map<R: FromAny, M, C: Callbacks<Any, M>>(
        self,
        order: WalkOrder,
        closures: C,
    ) -> Result<R> {
        let (closures, root) = (RefCell::new(closures), self.into_any());
        let map = |args: &[AnyView<'_>]| match call(&closures, args)? {
            Some(replacement) => Ok(replacement),
            None => args.first().copied().unwrap_or(AnyView::NONE).to_owned(),
        };
        let mapped = with_callbacks(C::add_types, &map, |function, types| {
            let callbacks = types.callbacks(function)?;
            operations::structural_map(root, Array::new()?, callbacks, order as i32)
        })?;
        mapped.into_value()
    }

    /// Replaces the nodes of this value by the results of closures, which decide whether the
    /// children of a node are rewritten, by [`Mutator::mutate_children`] and [`Mutator::mutate`].
    /// The children of nodes that no closure accepts are rewritten. Returns the new value, which
    /// shares unchanged parts; containers without another reference are changed in place.
    ///
    /// Closures take the node and a [`Mutator`], are `Fn`, and return a value or a `Result` of one.
    /// A closure that takes its node as a [`Node`](super::Node) does not borrow it.
    ///
    /// # Examples
    /// ```
    /// # use ferrite_alloc_ext as ferrite;
    /// use ferrite::containers::Array;
    /// use ferrite::structural::{Mutator, Structural};
    /// use ferrite::json;
    /// use ferrite_core::{Any, Result};
    ///
    /// # fn main() -> Result<()> {
    /// // Reverses each array with its children.
    /// let reversed: Any = json::parse(b"[1, [2, 3]]")?.structural_mutate(|_: Array<Any>, m: &mut Mutator| {
    ///     let inside: Array<Any> = m.mutate_children()?;
    ///     Array::try_from_iter((0..inside.len()).rev().map(|place| inside.get(place)).collect::<Result<Vec<_>>>()?)
    /// })?;
    /// assert_eq!(json::stringify(&reversed, None)?, "[[3,2],1]");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Errors of [`structural_map`](Self::structural_map).
    ///
    /// # Upstream
    /// `structural_mutate` of the crate `tvm-ffi`.
    fn structural_mutate<R: FromAny, M, C>(self, closures: C) -> Result<R>
    where
        C: for<'a> Recursive<Mutator<'a>, Any, M>,
    {
        self.structural_mutate_with(&mut (), closures)
    }

    /// Rewrites as [`structural_mutate`](Self::structural_mutate), with a state that
    /// [`Mutator::state`] lends to the closures.
    ///
    /// # Examples
    /// ```
    /// use ferrite_alloc_ext::containers::Array;
    /// use ferrite_alloc_ext::structural::{Mutator, Structural};
    ///
    /// # fn main() -> ferrite_core::Result<()> {
    /// let mut seen = Vec::new();
    /// let numbers = Array::from_slice(&[4, 5])?;
    /// let places: Array<i64> = numbers.structural_mutate_with(&mut seen, |n: i64, m: &mut Mutator<Vec<i64>>| {
    ///     m.state().push(n);
    ///     m.state().len()
    /// })?;
    /// assert_eq!((places.get(0)?, places.get(1)?, seen), (1, 2, vec![4, 5]));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Errors of [`structural_map`](Self::structural_map).
    ///
    /// # Upstream
    /// `MutateCallbacks` of the crate `tvm-ffi`.
    fn structural_mutate_with<R: FromAny, S, M, C>(self, state: &mut S, closures: C) -> Result<R>
    where
        C: for<'a> Recursive<Mutator<'a, S>, Any, M>,
    {
        let (state, root) = (RefCell::new(state), self.into_any());
        let mutate = |args: &[AnyView<'_>]| {
            let [rest @ .., mode] = args else { return Err(wrong_arguments()) };
            let (node, mutator) = node_and::<StructuralMutator>(rest)?;
            let is_unshared = mode.get::<i64>()? != 0;
            let mut mutator =
                Mutator { mutator: &mutator, node: *node, state: &state, is_unshared };
            match closures.call(node, &mut mutator)? {
                Some(replacement) => Ok(replacement),
                None => mutator.mutate_children(),
            }
        };
        let mutated = with_callbacks(C::add_types, &mutate, |function, types| {
            operations::structural_mutate(root, types.mutations(function)?)
        })?;
        mutated.into_value()
    }
}

impl<T: AnyCompatible> Structural for T {}

/// Calls `run` with a function over a closure, and with the types of the nodes that it is called
/// for.
fn with_callbacks<R>(
    add_types: impl FnOnce(&mut Types) -> Result<()>,
    closure: &dyn Fn(&[AnyView<'_>]) -> Result<Any>,
    run: impl FnOnce(&Function, &Types) -> Result<R>,
) -> Result<R> {
    let mut types = Types::default();
    add_types(&mut types)?;
    Function::scoped(closure, |function| run(function, &types))
}

/// Calls closures, which may change their captures, with a node and its region.
fn call<T, M>(closures: &RefCell<impl Callbacks<T, M>>, args: &[AnyView<'_>]) -> Result<Option<T>> {
    let [node, region] = args else { return Err(wrong_arguments()) };
    let Ok(mut closures) = closures.try_borrow_mut() else {
        plain_bail!(RUNTIME_ERROR, "A closure was called while it ran");
    };
    closures.call(node, DefRegion::from_raw(region.get()?))
}

/// Returns the arguments of a callback: a node, and the visitor or mutator.
fn node_and<'a, W: FromAny>(args: &'a [AnyView<'a>]) -> Result<(&'a AnyView<'a>, W)> {
    let [node, walker] = args else { return Err(wrong_arguments()) };
    Ok((node, walker.get()?))
}

/// Converts a decision to the value that callbacks of walks return.
fn answer_walk(answer: Option<Walk>) -> Result<Any> {
    Ok(match answer.unwrap_or(Walk::Continue) {
        Walk::Continue => Any::NONE,
        Walk::Skip => Any::from(1i64),
        Walk::Interrupt(value) => VisitInterrupt::new(value)?.into(),
    })
}

/// Converts a decision to the value that callbacks of visits return.
fn answer_flow(flow: Flow) -> Result<Any> {
    Ok(match flow {
        Flow::Continue(()) => Any::NONE,
        Flow::Break(value) => VisitInterrupt::new(value)?.into(),
    })
}

#[cold]
fn wrong_arguments() -> Error {
    plain_error!(INTERNAL_ERROR, "The callback was called with the wrong number of arguments")
}
