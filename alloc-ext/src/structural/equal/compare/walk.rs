//! The comparison walk and its state.
#![forbid(unsafe_code)]

use core::marker::PhantomData;
use core::ops::ControlFlow;

use ferrite_core::abi::type_index;
use ferrite_core::call::function::Function;
use ferrite_core::error::Result;
use ferrite_core::object::ObjectRef;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::value::any::{Any, AnyView};
use ferrite_core::value::string::String;

use super::super::bindings::Bindings;
use super::super::compare_leaf::compare_leaves;
use super::super::trace::Trace;
use super::entries::EntriesFrame;
use super::object::ObjectFrame;
use super::pair::{NodePair, Pair};
use super::sequence::SequenceFrame;
use crate::reflection::AccessKind;
use crate::structural::any_arg::AnyArg;
use crate::structural::kind_lookup::KindCache;
use crate::structural::{DefRegion, StructuralKind};
use crate::walk::{
    CallbackState, Entered, Fields, Fold, HookState, Hooks, MaybeOwned, NextChild, fold,
    reserve_frame, with_callback,
};

/// State of a structural comparison.
#[derive(Default)]
pub struct Comparer {
    pub(super) skip_tensor_content: bool,
    bindings: Bindings,
    /// Path to the first difference; `None` if the caller does not need it.
    trace: Option<Trace>,
    types: KindCache,
    hooks: Hooks,
}

/// A comparison walk over two borrowed values.
pub(super) struct EqualWalk<'c, 'w> {
    pub comparer: &'c mut Comparer,
    lent: PhantomData<&'w Any>,
    /// Whether a difference was found in the topmost frame.
    pub differs: bool,
}

pub(super) enum EqualFrame<'w> {
    Sequence(SequenceFrame<'w>),
    Entries(EntriesFrame<'w>),
    Object(ObjectFrame<'w>),
}

impl HookState for Comparer {}

impl<'w> Fold for EqualWalk<'_, 'w> {
    type Node = NodePair<'w>;
    type Frame = EqualFrame<'w>;
    type Value = bool;
    const NAME: &'static str = "StructuralEqual";

    /// Enters two containers or objects of the same type. Leaves are compared without entering.
    fn enter(
        &mut self,
        pair: NodePair<'w>,
        open: &mut Buffer<EqualFrame<'w>>,
    ) -> Result<Entered<EqualFrame<'w>, bool>> {
        match pair.lhs.type_index() {
            type_index::ARRAY | type_index::LIST => {
                reserve_frame::<Self>(open)?
                    .fill(EqualFrame::Sequence(SequenceFrame::behind(0, pair)));
                Ok(self.enter_container(open))
            }
            type_index::MAP | type_index::DICT => {
                reserve_frame::<Self>(open)?.fill(EqualFrame::Entries(EntriesFrame::new(pair)?));
                Ok(self.enter_container(open))
            }
            _ => match self.enter_object(pair.borrowed())? {
                ControlFlow::Break(equal) => Ok(Entered::Value(equal)),
                ControlFlow::Continue((kind, region, fields)) => {
                    let room = reserve_frame::<Self>(open)?;
                    room.fill(EqualFrame::Object(ObjectFrame::new(pair, kind, region, fields)));
                    Ok(Entered::Open)
                }
            },
        }
    }

    fn next(&mut self, frame: &mut EqualFrame<'w>) -> Result<Option<NodePair<'w>>> {
        let Comparer { skip_tensor_content, bindings, .. } = &*self.comparer;
        match frame {
            EqualFrame::Sequence(frame) => {
                Ok(frame.next(*skip_tensor_content, &mut self.differs)?.map(|(pair, _)| pair))
            }
            EqualFrame::Entries(frame) => {
                frame.next(bindings, *skip_tensor_content, &mut self.differs)
            }
            EqualFrame::Object(frame) => {
                Ok(frame.next(*skip_tensor_content, &mut self.differs)?.map(Pair::into_node))
            }
        }
    }

    #[inline(always)]
    fn descend(
        &mut self,
        open: &mut Buffer<EqualFrame<'w>>,
    ) -> Result<NextChild<NodePair<'w>, bool>> {
        // A frame of a leaf would be stored and reloaded at once, and the load would wait for the
        // store.
        if cfg!(feature = "speed") { self.enter_next(open) } else { Ok(NextChild::ByNode) }
    }

    fn feed(&mut self, _: &mut EqualFrame<'w>, equal: bool) -> Result<ControlFlow<bool>> {
        Ok(if equal { ControlFlow::Continue(()) } else { ControlFlow::Break(false) })
    }

    fn leave(&mut self, frame: &mut EqualFrame<'w>) -> Result<bool> {
        if self.differs {
            return frame.trace(self.comparer.trace.as_mut()).map(|()| false);
        }
        match frame {
            EqualFrame::Sequence(frame) => frame.finish(self.comparer.trace.as_mut()),
            EqualFrame::Entries(frame) => {
                frame.finish(&self.comparer.bindings, self.comparer.trace.as_mut())
            }
            EqualFrame::Object(frame) => {
                self.comparer.finish_object(frame.pair.borrowed(), frame.kind)
            }
        }
    }

    fn stopped(&mut self, open: &[EqualFrame<'w>], equal: bool) -> Result<bool> {
        open.iter().rev().try_for_each(|frame| frame.trace(self.comparer.trace.as_mut()))?;
        Ok(equal)
    }

    fn abandon(&mut self, _: EqualFrame<'w>) {}
}

impl<'w> EqualWalk<'_, 'w> {
    /// Pops the topmost frame if its containers differ in size and no path to the difference is
    /// needed. Returns `true` if the frame was kept.
    pub(super) fn keep_container(&self, open: &mut Buffer<EqualFrame<'w>>) -> bool {
        let is_kept =
            self.comparer.trace.is_some() || open.last().is_none_or(EqualFrame::have_same_len);
        if !is_kept {
            open.truncate(open.len() - 1);
        }
        is_kept
    }

    fn enter_container(&self, open: &mut Buffer<EqualFrame<'w>>) -> Entered<EqualFrame<'w>, bool> {
        if self.keep_container(open) { Entered::Open } else { Entered::Value(false) }
    }

    /// Decides by identity, bindings or hook whether two objects are equal; otherwise returns the
    /// state for comparing their fields.
    #[inline(always)]
    pub(super) fn enter_object(
        &mut self,
        pair: Pair<&ObjectRef>,
    ) -> Result<ControlFlow<bool, (StructuralKind, DefRegion, Fields)>> {
        let index = pair.lhs.type_index();
        let (entry, kind) = self.comparer.types.get(index)?;
        if let Some(equal) = self.comparer.compare_by_identity(pair, kind) {
            return Ok(ControlFlow::Break(equal));
        }
        let region = pair.region.in_object(kind);
        if let Some(hook) = self.comparer.hooks.of_type(index)? {
            let equal = self.comparer.compare_by_hook(&hook, pair, region)?
                && self.comparer.finish_object(pair, kind)?;
            return Ok(ControlFlow::Break(equal));
        }
        Ok(ControlFlow::Continue((kind, region, Fields::of(entry))))
    }
}

impl<'w> EqualWalk<'_, 'w> {
    /// Descends from the topmost frame to its next child, in speed-optimised builds. Builds the
    /// frames of Arrays in sequences and of objects in fields in place, without creating a node
    /// first.
    ///
    /// # Errors
    /// Errors of the self.
    #[inline(always)]
    fn enter_next(
        &mut self,
        open: &mut Buffer<EqualFrame<'w>>,
    ) -> Result<NextChild<NodePair<'w>, bool>> {
        let skip_tensor_content = self.comparer.skip_tensor_content;
        match open.last_mut() {
            Some(EqualFrame::Sequence(frame)) => {
                match frame.next(skip_tensor_content, &mut self.differs)? {
                    Some((pair, equal)) => self.enter_element(pair, equal, open),
                    None => Ok(NextChild::End),
                }
            }
            Some(EqualFrame::Object(frame)) => {
                match frame.next(skip_tensor_content, &mut self.differs)? {
                    Some(pair) => self.enter_field(pair, open),
                    None => Ok(NextChild::End),
                }
            }
            _ => Ok(NextChild::ByNode),
        }
    }

    #[inline(always)]
    fn enter_element(
        &self,
        pair: NodePair<'w>,
        equal: usize,
        open: &mut Buffer<EqualFrame<'w>>,
    ) -> Result<NextChild<NodePair<'w>, bool>> {
        if pair.lhs.type_index() != type_index::ARRAY {
            return Ok(NextChild::Child(pair));
        }
        reserve_frame::<Self>(open)?.fill(EqualFrame::Sequence(SequenceFrame::behind(equal, pair)));
        Ok(if self.keep_container(open) { NextChild::Open } else { NextChild::Value(false) })
    }

    #[inline(always)]
    fn enter_field(
        &mut self,
        pair: Pair<ObjectRef>,
        open: &mut Buffer<EqualFrame<'w>>,
    ) -> Result<NextChild<NodePair<'w>, bool>> {
        if pair.lhs.type_index() < type_index::DYN_OBJECT_BEGIN {
            return Ok(NextChild::Child(pair.into_node()));
        }
        // Moved word by word: a wider load would wait for the stores of its parts.
        let Pair { lhs, rhs, region } = pair;
        match self.enter_object(Pair { lhs: &lhs, rhs: &rhs, region })? {
            ControlFlow::Break(equal) => Ok(NextChild::Value(equal)),
            ControlFlow::Continue((kind, inner, fields)) => {
                let room = reserve_frame::<Self>(open)?;
                let pair = Pair { lhs, rhs, region }.into_node();
                room.fill(EqualFrame::Object(ObjectFrame::new(pair, kind, inner, fields)));
                Ok(NextChild::Open)
            }
        }
    }
}

impl EqualFrame<'_> {
    /// Returns `true` if both sides have the same number of children.
    fn have_same_len(&self) -> bool {
        match self {
            Self::Sequence(frame) => frame.have_same_len(),
            Self::Entries(frame) => frame.have_same_len(),
            Self::Object(_) => true,
        }
    }

    /// Appends the path step to the current child.
    fn trace(&self, trace: Option<&mut Trace>) -> Result<()> {
        match (self, trace) {
            (Self::Sequence(frame), Some(trace)) => frame.trace(trace),
            (Self::Entries(frame), Some(trace)) => frame.trace(trace),
            (Self::Object(frame), Some(trace)) => frame.trace(trace),
            (_, None) => Ok(()),
        }
    }
}

impl Comparer {
    pub fn new(skip_tensor_content: bool, trace: Option<Trace>) -> Self {
        Self { skip_tensor_content, trace, hooks: Hooks::new("__s_equal__"), ..Self::default() }
    }

    /// Returns `true` if two values are structurally equal.
    ///
    /// # Errors
    /// Errors of [`structural_equal`](super::super::structural_equal).
    pub fn compare(
        &mut self,
        lhs: MaybeOwned<'_>,
        rhs: MaybeOwned<'_>,
        region: DefRegion,
    ) -> Result<bool> {
        if let Some(equal) = compare_leaves(&lhs, &rhs, self.skip_tensor_content)? {
            return Ok(equal);
        }
        match (lhs.into_object(), rhs.into_object()) {
            (Some(lhs), Some(rhs)) => {
                // A hook may release the references of the values' owners.
                let _owned = [&lhs, &rhs].map(|object| ObjectRef::clone(object));
                fold(
                    &mut EqualWalk { comparer: self, lent: PhantomData, differs: false },
                    Pair { lhs, rhs, region },
                )
            }
            _ => Ok(false),
        }
    }

    /// Returns the path to the first difference; empty if none was recorded.
    pub fn into_trace(self) -> Trace {
        self.trace.unwrap_or_else(Trace::new)
    }

    /// Decides equality by identity or bindings; `None` if the structural kind requires comparing
    /// the content.
    #[inline(always)]
    fn compare_by_identity(&self, pair: Pair<&ObjectRef>, kind: StructuralKind) -> Option<bool> {
        match kind {
            StructuralKind::UniqueInstance => Some(pair.lhs.ptr_eq(pair.rhs)),
            StructuralKind::ConstTreeNode => pair.lhs.ptr_eq(pair.rhs).then_some(true),
            StructuralKind::DagNode | StructuralKind::FreeVar => {
                self.bindings.are_bound(pair.lhs, pair.rhs)
            }
            StructuralKind::TreeNode | StructuralKind::Unsupported => None,
        }
    }

    /// Returns `true` if two objects of equal content are equal by their structural kind. Binds
    /// variables and graph nodes.
    #[inline]
    fn finish_object(&mut self, pair: Pair<&ObjectRef>, kind: StructuralKind) -> Result<bool> {
        let binds = match kind {
            StructuralKind::DagNode => true,
            StructuralKind::FreeVar if pair.region.defines() || pair.lhs.ptr_eq(pair.rhs) => true,
            StructuralKind::FreeVar => return Ok(false),
            _ => false,
        };
        if binds {
            self.bindings.bind(pair.lhs, pair.rhs)?;
        }
        Ok(true)
    }

    fn compare_by_hook(
        &mut self,
        hook: &Function,
        pair: Pair<&ObjectRef>,
        region: DefRegion,
    ) -> Result<bool> {
        with_callback(
            self,
            |slot| Self::callback(slot, region),
            |callback| {
                hook.call_packed(&[
                    AnyView::from(pair.lhs),
                    AnyView::from(pair.rhs),
                    AnyView::from(callback),
                ])?
                .get::<bool>()
            },
        )
    }

    /// Creates the callback passed to a comparison hook, which compares two children of the hook's
    /// objects.
    fn callback(slot: CallbackState<Self>, region: DefRegion) -> Result<Function> {
        Function::from_typed(
            move |lhs: AnyArg, rhs: AnyArg, kind: i32, name: AnyArg| -> Result<bool> {
                let region = region.in_callback(kind);
                slot.with(|comparer| {
                    let equal = comparer.compare(
                        MaybeOwned::Owned(lhs.0),
                        MaybeOwned::Owned(rhs.0),
                        region,
                    )?;
                    if !equal && let Some(trace) = &mut comparer.trace {
                        trace.push_same(AccessKind::Attr, name.0.get::<String>()?.into())?;
                    }
                    Ok(equal)
                })
            },
        )
    }
}
