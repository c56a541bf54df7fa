//! The walk that rewrites a value: callbacks and hooks are called, everything else is gone through in a loop.

use core::mem;
use core::ops::ControlFlow;

use ferrite_core::any::{Any, AnyView};
use ferrite_core::error::{Error, Result};
use ferrite_core::memory::Buffer;
use ferrite_core::{plain_bail, stack, type_index};

use super::engine::{Engine, MapCallbacks, Rule};
use super::fields::{Begun, FieldsBody};
use super::frame::{After, Body, Descent, Frame};
use super::mutator::{self, InplaceMode};
use super::slots::SlotsBody;
use super::unchanged::{UNCHANGED, is_same, is_unchanged, value_or};
use crate::reflection::StructuralMutator;
use crate::structural::callbacks::Callback;
use crate::structural::error_context::add_visit_context;
use crate::structural::native;
use crate::structural::walker;
use crate::walk::{Entered, Fold, Hooks, fold};

/// The column of hooks that leave the value alone.
pub const MUTATE: &str = "__s_mutate__";
/// The column of hooks that may change the value.
pub const MAYBE_INPLACE_MUTATE: &str = "__s_maybe_inplace_mutate__";

/// How much is done with a value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Everything: callbacks, and what is the default.
    Mutate,
    /// The default: the hook of the type, or its fields.
    Default,
    /// Only what this library's hooks for containers do. Whoever calls a hook adds the value to the context of errors.
    Hook,
}

/// A value on its way into the walk.
pub struct Node<'a> {
    /// The value, which its container or the frame of that holds.
    pub value: AnyView<'a>,
    /// Whether it may be changed where it stands.
    pub mode: InplaceMode,
    /// What is to be done.
    pub step: Step,
}

/// Rewrites a value; the answer may be [`UNCHANGED`].
///
/// # Errors
/// Those of callbacks and hooks, which get the context of where they happened; ValueError beyond the depth of
/// [`crate::walk`] or when calls nest deeper than the stack allows; MemoryError. What was changed in place stays changed.
pub fn run(mutator: &StructuralMutator, value: AnyView<'_>, mode: InplaceMode, step: Step) -> Result<Any> {
    stack::nest(|| {
        let mut mutation = Mutation {
            mutator,
            engine: Engine::of(mutator),
            hooks: Hooks::new(MUTATE),
            inplace_hooks: Hooks::new(MAYBE_INPLACE_MUTATE),
        };
        fold(&mut mutation, Node { value, mode, step })
    })
}

struct Mutation<'a> {
    mutator: &'a StructuralMutator,
    /// None for a mutator of somebody else, whose own functions are called for everything inside the value.
    engine: Option<&'a Engine>,
    hooks: Hooks,
    inplace_hooks: Hooks,
}

impl<'a> Fold for Mutation<'a> {
    type Node = Node<'a>;
    type Frame = Frame<'a>;
    type Value = Any;
    const NAME: &'static str = "StructuralMutate";

    fn enter(&mut self, node: Node<'a>, _: &mut Buffer<Frame<'a>>) -> Result<Entered<Frame<'a>, Any>> {
        let descent = Descent::new(node.value, node.mode);
        match (node.step, self.engine) {
            (Step::Hook, _) => self.enter_container(descent.unreported()),
            (Step::Default, _) => self.descend(descent),
            (Step::Mutate, None) => mutator::mutate(self.mutator, node.value, node.mode).map(Entered::Value),
            (Step::Mutate, Some(engine)) => match &engine.rule {
                Rule::PreOrder(callbacks) => self.map_first(callbacks, descent),
                Rule::PostOrder(_) => self.descend(descent.then(After::Callback)),
                Rule::Mutate(callbacks) => match callbacks.find(node.value.type_index()) {
                    Some(callback) => self.rewrite(callback, &node).map(Entered::Value),
                    None => self.descend(descent),
                },
            },
        }
    }

    fn next(&mut self, frame: &mut Frame<'a>) -> Result<Option<Node<'a>>> {
        match &mut frame.body {
            Body::Slots(slots) => slots.next(&frame.descent, |value| self.is_kept(value)),
            Body::Fields(fields) => fields.next(self.mutator, frame.region, |value| self.is_kept(value)),
        }
    }

    fn feed(&mut self, frame: &mut Frame<'a>, answer: Any) -> Result<ControlFlow<Any>> {
        match &mut frame.body {
            Body::Slots(slots) => slots.feed(&frame.descent, answer)?,
            Body::Fields(fields) => fields.feed(self.mutator, frame.region, answer)?,
        }
        Ok(ControlFlow::Continue(()))
    }

    fn leave(&mut self, frame: &mut Frame<'a>) -> Result<Any> {
        let answer = match &mut frame.body {
            Body::Slots(slots) => slots.leave(),
            Body::Fields(fields) => fields.leave(self.mutator, frame.region, frame.descent.value)?,
        };
        // From here on the value is done, and an error is that of a callback.
        frame.descent.is_reported = false;
        let after = mem::take(&mut frame.descent.after);
        self.finish(after, frame.descent.value, answer)
    }

    fn failed(&mut self, frame: &Frame<'a>, error: &Error) {
        if frame.descent.is_reported {
            add_visit_context(error, frame.descent.value);
        }
    }

    fn abandon(&mut self, frame: Frame<'a>) {
        walker::set_region(self.mutator, frame.region);
    }
}

impl<'a> Mutation<'a> {
    /// Whether a value stays as it is without anybody having a say: a leaf that neither callbacks nor hooks take.
    fn is_kept(&self, value: AnyView<'_>) -> bool {
        let type_index = value.type_index();
        let is_leaf =
            value.object_ptr().is_none() && self.hooks.value(type_index).is_none() || is_leaf(type_index);
        is_leaf && self.engine.is_some_and(|engine| !engine.rule.takes(type_index))
    }

    /// What a callback that decides about the inside of a value, too, makes of it.
    fn rewrite(&self, callback: &Callback, node: &Node<'_>) -> Result<Any> {
        let (mutator, mode) = (AnyView::from(self.mutator), AnyView::from(node.mode as i32));
        let outcome = if callback.wants_more {
            native::call_function(&callback.function, &[node.value, mutator, mode])
        } else {
            native::call_function(&callback.function, &[node.value, mutator])
        };
        reported(outcome, node.value)
    }

    /// The callback of a map that goes first; what it answers is mapped in place of the value.
    fn map_first(
        &mut self,
        callbacks: &MapCallbacks,
        descent: Descent<'a>,
    ) -> Result<Entered<Frame<'a>, Any>> {
        let Descent { value, mode, .. } = descent;
        let Some(answer) = callbacks.call(value, walker::region(self.mutator)) else {
            return self.descend(descent);
        };
        let answer = reported(answer, value)?;
        if is_unchanged(&answer) {
            return self.descend(descent);
        }
        if is_same(answer.view(), value) {
            return self.descend(descent.then(After::Replaced(answer)));
        }
        let mode = mode.inside(answer.view());
        // SAFETY: the answer goes into the frame, or outlives the descent, of which the view is a part.
        let view = unsafe { AnyView::from_raw(*answer.as_raw()) };
        self.descend(Descent::new(view, mode).then(After::Replaced(answer)))
    }

    /// Does what is the default for a value.
    fn descend(&mut self, descent: Descent<'a>) -> Result<Entered<Frame<'a>, Any>> {
        // The hooks of containers are this library's own.
        if let Some(slots) = SlotsBody::of(descent.value) {
            return Ok(self.open(descent, Body::Slots(slots)));
        }
        match reported(self.begin(descent.value, descent.mode), descent.value)? {
            Begun::Answer(answer) => self.finish(descent.after, descent.value, answer).map(Entered::Value),
            Begun::Body(fields) => Ok(self.open(descent, Body::Fields(fields))),
        }
    }

    fn enter_container(&mut self, descent: Descent<'a>) -> Result<Entered<Frame<'a>, Any>> {
        match SlotsBody::of(descent.value) {
            Some(slots) => Ok(self.open(descent, Body::Slots(slots))),
            None => plain_bail!(TYPE_ERROR, "The hook of a container was called with another value"),
        }
    }

    #[inline]
    fn open(&self, descent: Descent<'a>, body: Body<'a>) -> Entered<Frame<'a>, Any> {
        Entered::Frame(Frame { descent, body, region: walker::region(self.mutator) })
    }

    /// Starts what is the default for what is no container: asks the hook of the type, or gets to the fields.
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

    /// What happens when the default is done.
    fn finish(&self, after: After, value: AnyView<'_>, answer: Any) -> Result<Any> {
        match (after, self.engine.map(|engine| &engine.rule)) {
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

/// Whether objects of this type stay as they are by this library's own hook.
fn is_leaf(type_index: i32) -> bool {
    matches!(type_index, type_index::STR | type_index::BYTES | type_index::BIG_INT)
}

fn is_callable(hook: AnyView<'_>) -> bool {
    matches!(hook.type_index(), type_index::OPAQUE_PTR | type_index::FUNCTION)
}

/// Adds the value to the context of an error that happened in it.
fn reported<T>(outcome: Result<T>, value: AnyView<'_>) -> Result<T> {
    outcome.inspect_err(|error| add_visit_context(error, value))
}
