//! The mutation walk: calls callbacks and hooks, and visits all other values iteratively.

use core::mem;
use core::ops::ControlFlow;

use ferrite_core::abi::type_index;
use ferrite_core::error::{Error, Result};
use ferrite_core::plain_bail;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::platform::stack;
use ferrite_core::value::any::{Any, AnyView};

use super::fields::{Begun, FieldsBody};
use super::mutator::{self, InplaceMode};
use super::node::{After, MutationTarget, Node, Step};
use super::rule::{MapCallbacks, Rule};
use super::slots::SlotsBody;
use super::unchanged::{UNCHANGED, is_same, is_unchanged, value_or};
use crate::reflection::StructuralMutator;
use crate::structural::DefRegion;
use crate::structural::callbacks::Callback;
use crate::structural::error_context::add_visit_context;
use crate::structural::native;
use crate::structural::walker;
use crate::walk::{Entered, Fold, Hooks, fold};

/// Attribute column of hooks that return a new value.
pub const MUTATE: &str = "__s_mutate__";
/// Attribute column of hooks that may change the value in place.
pub const MAYBE_INPLACE_MUTATE: &str = "__s_maybe_inplace_mutate__";

/// Rewrites a value by a mutator with this rule, and returns the new value or [`UNCHANGED`].
///
/// # Errors
/// Errors of callbacks and hooks, with the path to the value as context; ValueError beyond the
/// depth limit of [`crate::walk`], or if nested calls would overflow the stack; MemoryError.
/// In-place changes are not reverted.
pub fn run(
    mutator: &StructuralMutator,
    rule: Option<&Rule>,
    value: AnyView<'_>,
    mode: InplaceMode,
    step: Step,
) -> Result<Any> {
    stack::nest(|| {
        let mut mutation = Mutation {
            mutator,
            rule,
            hooks: Hooks::new(MUTATE),
            inplace_hooks: Hooks::new(MAYBE_INPLACE_MUTATE),
        };
        fold(&mut mutation, Node { value, mode, step })
    })
}

/// A value whose children are being visited.
struct MutateFrame<'a> {
    target: MutationTarget<'a>,
    body: MutatedChildren<'a>,
    /// Definition region that contains the value.
    region: DefRegion,
}

/// Cursor over the children of a value being mutated.
enum MutatedChildren<'a> {
    /// Elements of a sequence, or values of a map.
    Slots(SlotsBody<'a>),
    /// Fields of any other object.
    Fields(FieldsBody),
}

struct Mutation<'a> {
    mutator: &'a StructuralMutator,
    /// Rule of the mutator; `None` for a mutator created by C++ code, whose functions mutate all
    /// children.
    rule: Option<&'a Rule>,
    hooks: Hooks,
    inplace_hooks: Hooks,
}

impl<'a> Fold for Mutation<'a> {
    type Node = Node<'a>;
    type Frame = MutateFrame<'a>;
    type Value = Any;
    const NAME: &'static str = "StructuralMutate";

    fn enter(
        &mut self,
        node: Node<'a>,
        _: &mut Buffer<MutateFrame<'a>>,
    ) -> Result<Entered<MutateFrame<'a>, Any>> {
        let target = MutationTarget::new(node.value, node.mode);
        match (node.step, self.rule) {
            (Step::Hook, _) => self.enter_container(target.without_report()),
            (Step::Default, _) => self.descend(target),
            (Step::Mutate, None) => {
                mutator::mutate(self.mutator, node.value, node.mode).map(Entered::Value)
            }
            (Step::Mutate, Some(rule)) => match rule {
                Rule::PreOrder(callbacks) => self.map_first(callbacks, target),
                Rule::PostOrder(_) => self.descend(target.then(After::Callback)),
                Rule::Mutate(callbacks) => match callbacks.find(node.value.type_index()) {
                    Some(callback) => self.rewrite(callback, &node).map(Entered::Value),
                    None => self.descend(target),
                },
            },
        }
    }

    fn next(&mut self, frame: &mut MutateFrame<'a>) -> Result<Option<Node<'a>>> {
        match &mut frame.body {
            MutatedChildren::Slots(slots) => slots.next(&frame.target, |value| self.is_kept(value)),
            MutatedChildren::Fields(fields) => {
                fields.next(self.mutator, frame.region, |value| self.is_kept(value))
            }
        }
    }

    fn feed(&mut self, frame: &mut MutateFrame<'a>, answer: Any) -> Result<ControlFlow<Any>> {
        match &mut frame.body {
            MutatedChildren::Slots(slots) => slots.feed(&frame.target, answer)?,
            MutatedChildren::Fields(fields) => fields.feed(self.mutator, frame.region, answer)?,
        }
        Ok(ControlFlow::Continue(()))
    }

    fn leave(&mut self, frame: &mut MutateFrame<'a>) -> Result<Any> {
        let answer = match &mut frame.body {
            MutatedChildren::Slots(slots) => slots.leave(),
            MutatedChildren::Fields(fields) => {
                fields.leave(self.mutator, frame.region, frame.target.value)?
            }
        };
        // Errors from here on are errors of a callback.
        frame.target.is_reported = false;
        let after = mem::take(&mut frame.target.after);
        self.finish(after, frame.target.value, answer)
    }

    fn failed(&mut self, frame: &MutateFrame<'a>, error: &mut Error) {
        if frame.target.is_reported {
            add_visit_context(error, frame.target.value);
        }
    }

    fn abandon(&mut self, frame: MutateFrame<'a>) {
        walker::set_region(self.mutator, frame.region);
    }
}

impl<'a> Mutation<'a> {
    /// Returns `true` if a value is known to stay unchanged: a leaf whose type has neither a
    /// callback nor a hook.
    fn is_kept(&self, value: AnyView<'_>) -> bool {
        let type_index = value.type_index();
        let is_leaf = value.object_ptr().is_none() && self.hooks.value(type_index).is_none()
            || is_leaf(type_index);
        is_leaf && self.rule.is_some_and(|rule| !rule.takes(type_index))
    }

    /// Calls the callback of [`Rule::Mutate`] and returns its result. The callback decides whether
    /// the children are visited.
    fn rewrite(&self, callback: &Callback, node: &Node<'_>) -> Result<Any> {
        let (mutator, mode) = (AnyView::from(self.mutator), AnyView::from(node.mode as i32));
        let outcome = if callback.takes_inplace_mode {
            native::call_function(&callback.function, &[node.value, mutator, mode])
        } else {
            native::call_function(&callback.function, &[node.value, mutator])
        };
        reported(outcome, node.value)
    }

    /// Calls the callback of a pre-order map, and enters its result instead of the value.
    fn map_first(
        &mut self,
        callbacks: &MapCallbacks,
        target: MutationTarget<'a>,
    ) -> Result<Entered<MutateFrame<'a>, Any>> {
        let MutationTarget { value, mode, .. } = target;
        let Some(answer) = callbacks.call(value, walker::region(self.mutator)) else {
            return self.descend(target);
        };
        let answer = reported(answer, value)?;
        if is_unchanged(&answer) || is_same(answer.view(), value) {
            drop(answer);
            // The callback may have kept the value, which it then shares.
            return self.descend(MutationTarget { mode: mode.inside(value), ..target });
        }
        let mode = mode.inside(answer.view());
        // SAFETY: the result is stored in the frame or outlives the target, of which the view is a
        // part.
        let view = unsafe { AnyView::from_raw(*answer.as_raw()) };
        self.descend(MutationTarget::new(view, mode).then(After::Replaced(answer)))
    }

    /// Starts the default mutation of a value.
    fn descend(&mut self, target: MutationTarget<'a>) -> Result<Entered<MutateFrame<'a>, Any>> {
        // The hooks of containers are this library's own.
        if let Some(slots) = SlotsBody::of(target.value) {
            return Ok(self.open(target, MutatedChildren::Slots(slots)));
        }
        match reported(self.begin(target.value, target.mode), target.value)? {
            Begun::Answer(answer) => {
                self.finish(target.after, target.value, answer).map(Entered::Value)
            }
            Begun::Body(fields) => Ok(self.open(target, MutatedChildren::Fields(fields))),
        }
    }

    fn enter_container(
        &mut self,
        target: MutationTarget<'a>,
    ) -> Result<Entered<MutateFrame<'a>, Any>> {
        match SlotsBody::of(target.value) {
            Some(slots) => Ok(self.open(target, MutatedChildren::Slots(slots))),
            None => {
                plain_bail!(TYPE_ERROR, "The hook of a container was called with another value")
            }
        }
    }

    #[inline]
    fn open(
        &self,
        target: MutationTarget<'a>,
        body: MutatedChildren<'a>,
    ) -> Entered<MutateFrame<'a>, Any> {
        Entered::Frame(MutateFrame { target, body, region: walker::region(self.mutator) })
    }

    /// Starts the default mutation of a value that is not a container, by the hook of its type or
    /// by its fields.
    fn begin(&self, value: AnyView<'_>, mode: InplaceMode) -> Result<Begun> {
        let type_index = value.type_index();
        if is_leaf(type_index) {
            return Ok(Begun::Answer(UNCHANGED));
        }
        if mode == InplaceMode::Allow {
            let hook = self.inplace_hooks.value(type_index);
            if is_callable(hook) {
                return self.call_hook(MAYBE_INPLACE_MUTATE, hook, value);
            }
        }
        let hook = self.hooks.value(type_index);
        if is_callable(hook) {
            return self.call_hook(MUTATE, hook, value);
        }
        if !hook.is_none() {
            plain_bail!(TYPE_ERROR, "{} must be a direct hook pointer or ffi.Function", MUTATE);
        }
        if value.object_ptr().is_none() {
            return value.to_owned().map(Begun::Answer);
        }
        FieldsBody::begin(self.mutator, value)
    }

    fn call_hook(&self, column: &str, hook: AnyView<'static>, value: AnyView<'_>) -> Result<Begun> {
        // SAFETY: the hook comes from that column.
        unsafe { native::call_hook(column, hook, self.mutator, value) }.map(Begun::Answer)
    }

    /// Runs the step after the default mutation of a value, and returns the final result.
    fn finish(&self, after: After, value: AnyView<'_>, answer: Any) -> Result<Any> {
        match (after, self.rule) {
            (After::Replaced(replacement), _) => Ok(value_or(answer, replacement)),
            (After::Callback, Some(Rule::PostOrder(callbacks))) => {
                let shown = if is_unchanged(&answer) { value } else { answer.view() };
                match callbacks.call(shown, walker::region(self.mutator)) {
                    Some(outcome) => {
                        let replacement = reported(outcome, shown)?;
                        Ok(value_or(replacement, answer))
                    }
                    None => Ok(answer),
                }
            }
            _ => Ok(answer),
        }
    }
}

/// Returns `true` for the types whose objects have no children and stay unchanged.
fn is_leaf(type_index: i32) -> bool {
    matches!(type_index, type_index::STR | type_index::BYTES | type_index::BIG_INT)
}

fn is_callable(hook: AnyView<'_>) -> bool {
    matches!(hook.type_index(), type_index::OPAQUE_PTR | type_index::FUNCTION)
}

/// Adds the value to the error context if `outcome` is an error. Returns `outcome`.
fn reported<T>(outcome: Result<T>, value: AnyView<'_>) -> Result<T> {
    outcome.map_err(|mut error| {
        add_visit_context(&mut error, value);
        error
    })
}
