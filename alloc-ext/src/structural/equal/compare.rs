//! The walk that compares two values.
#![forbid(unsafe_code)]

use core::ops::ControlFlow;

use ferrite_core::any::AnyView;
use ferrite_core::error::Result;
use ferrite_core::function::Function;
use ferrite_core::string::String;
use ferrite_core::type_index;

use super::bindings::{Bindings, is_same};
use super::compare_frame::{EntriesFrame, ObjectFrame, Pair, SequenceFrame, Step};
use super::compare_leaf::compare_leaves;
use super::trace::Trace;
use crate::reflection::AccessKind;
use crate::structural::any_arg::AnyArg;
use crate::structural::{DefRegion, StructuralKind};
use crate::walk::{Entered, Fields, Fold, HookState, Hooks, Slot, fold, lend};

/// The state of a comparison.
#[derive(Default)]
pub(super) struct Comparer {
    skip_tensor_content: bool,
    bindings: Bindings,
    /// Where the first difference is, for those who want to know.
    trace: Option<Trace>,
    hooks: Hooks,
}

pub(super) enum Frame {
    Sequence(SequenceFrame),
    Entries(EntriesFrame),
    Object(ObjectFrame),
    /// One that is known to differ.
    Differs,
}

impl HookState for Comparer {}

impl Fold for Comparer {
    type Node = Pair;
    type Frame = Frame;
    type Value = bool;
    const NAME: &'static str = "StructuralEqual";

    /// Gets to two containers or objects of one type: nobody asks for others.
    fn enter(&mut self, pair: Pair) -> Result<Entered<Frame, bool>> {
        match pair.lhs.type_index() {
            type_index::ARRAY | type_index::LIST => {
                let frame = SequenceFrame::new(pair)?;
                if frame.is_done() && frame.have_same_len() {
                    return Ok(Entered::Value(true));
                }
                Ok(self.enter_container(frame.have_same_len(), Frame::Sequence(frame)))
            }
            type_index::MAP | type_index::DICT => {
                let frame = EntriesFrame::new(pair)?;
                Ok(self.enter_container(frame.have_same_len(), Frame::Entries(frame)))
            }
            _ => self.enter_object(pair),
        }
    }

    fn next(&mut self, frame: &mut Frame) -> Result<Option<Pair>> {
        let step = match frame {
            Frame::Sequence(frame) => frame.next(self.skip_tensor_content)?,
            Frame::Entries(frame) => frame.next(&self.bindings, self.skip_tensor_content)?,
            Frame::Object(frame) => frame.next(self.skip_tensor_content)?,
            Frame::Differs => Step::Done,
        };
        match step {
            Step::Into(pair) => return Ok(Some(pair)),
            Step::Done => {}
            Step::Differs => {
                self.trace(frame)?;
                *frame = Frame::Differs;
            }
        }
        Ok(None)
    }

    fn feed(&mut self, _: &mut Frame, equal: bool) -> Result<ControlFlow<bool>> {
        Ok(if equal { ControlFlow::Continue(()) } else { ControlFlow::Break(false) })
    }

    fn leave(&mut self, frame: &mut Frame) -> Result<bool> {
        match frame {
            Frame::Sequence(frame) => frame.finish(self.trace.as_mut()),
            Frame::Entries(frame) => frame.finish(&self.bindings, self.trace.as_mut()),
            Frame::Object(frame) => self.finish_object(&frame.pair, frame.kind),
            Frame::Differs => Ok(false),
        }
    }

    fn stopped(&mut self, open: &[Frame], equal: bool) -> Result<bool> {
        open.iter().rev().try_for_each(|frame| self.trace(frame))?;
        Ok(equal)
    }

    fn abandon(&mut self, _: Frame) {}
}

impl Comparer {
    pub(super) fn new(skip_tensor_content: bool, trace: Option<Trace>) -> Self {
        Self { skip_tensor_content, trace, hooks: Hooks::new("__s_equal__"), ..Self::default() }
    }

    /// Whether two values are equal.
    ///
    /// # Errors
    ///
    /// Those of [`structural_equal`](super::structural_equal).
    pub(super) fn compare(&mut self, pair: Pair) -> Result<bool> {
        match compare_leaves(&pair.lhs, &pair.rhs, self.skip_tensor_content)? {
            Some(equal) => Ok(equal),
            None => fold(self, pair),
        }
    }

    /// The way to the first difference.
    pub(super) fn into_trace(self) -> Trace {
        self.trace.unwrap_or_default()
    }

    fn trace(&mut self, frame: &Frame) -> Result<()> {
        let Some(trace) = &mut self.trace else { return Ok(()) };
        match frame {
            Frame::Sequence(frame) => frame.trace(trace),
            Frame::Entries(frame) => frame.trace(trace),
            Frame::Object(frame) => frame.trace(trace),
            Frame::Differs => Ok(()),
        }
    }

    /// Containers of different sizes differ; only who wants to know where looks further.
    fn enter_container(&self, have_same_len: bool, frame: Frame) -> Entered<Frame, bool> {
        if have_same_len || self.trace.is_some() { Entered::Frame(frame) } else { Entered::Value(false) }
    }

    fn enter_object(&mut self, pair: Pair) -> Result<Entered<Frame, bool>> {
        let (entry, kind) = StructuralKind::of_comparable(pair.lhs.type_index())?;
        if let Some(equal) = self.compare_by_identity(&pair, kind) {
            return Ok(Entered::Value(equal));
        }
        let region = pair.region.in_object(kind);
        if let Some(hook) = self.hooks.of(&pair.lhs)? {
            let equal = self.compare_by_hook(&hook, &pair, region)? && self.finish_object(&pair, kind)?;
            return Ok(Entered::Value(equal));
        }
        Ok(Entered::Frame(Frame::Object(ObjectFrame::new(pair, kind, region, Fields::of(entry)))))
    }

    /// The answer where it does not take a look inside.
    fn compare_by_identity(&self, pair: &Pair, kind: StructuralKind) -> Option<bool> {
        match kind {
            StructuralKind::UniqueInstance => Some(is_same(&pair.lhs, &pair.rhs)),
            StructuralKind::ConstTreeNode => is_same(&pair.lhs, &pair.rhs).then_some(true),
            StructuralKind::DagNode | StructuralKind::FreeVar => {
                self.bindings.are_bound(&pair.lhs, &pair.rhs)
            }
            StructuralKind::TreeNode | StructuralKind::Unsupported => None,
        }
    }

    /// Whether two objects are equal whose content is.
    fn finish_object(&mut self, pair: &Pair, kind: StructuralKind) -> Result<bool> {
        let binds = match kind {
            StructuralKind::DagNode => true,
            StructuralKind::FreeVar if pair.region.defines() || is_same(&pair.lhs, &pair.rhs) => true,
            StructuralKind::FreeVar => return Ok(false),
            _ => false,
        };
        if binds {
            self.bindings.bind(&pair.lhs, &pair.rhs)?;
        }
        Ok(true)
    }

    fn compare_by_hook(&mut self, hook: &Function, pair: &Pair, region: DefRegion) -> Result<bool> {
        lend(
            self,
            |slot| Self::callback(slot, region),
            |callback| hook.call(&[pair.lhs.view(), pair.rhs.view(), AnyView::from(callback)])?.get::<bool>(),
        )
    }

    /// What a hook calls to compare two values inside its objects.
    fn callback(slot: Slot<Self>, region: DefRegion) -> Result<Function> {
        Function::from_typed(move |lhs: AnyArg, rhs: AnyArg, kind: i32, name: AnyArg| -> Result<bool> {
            let region = region.in_callback(kind);
            slot.with(|comparer| {
                let equal = comparer.compare(Pair { lhs: lhs.0, rhs: rhs.0, region })?;
                if !equal && let Some(trace) = &mut comparer.trace {
                    trace.push_same(AccessKind::Attr, name.0.get::<String>()?.into())?;
                }
                Ok(equal)
            })
        })
    }
}
