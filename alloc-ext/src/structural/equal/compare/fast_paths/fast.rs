//! Fast paths that compare leaves without pushing a frame. A frame would be stored and reloaded at
//! once, and the load would wait for the store.
#![forbid(unsafe_code)]

use core::ops::ControlFlow;

use ferrite_core::abi::type_index;
use ferrite_core::error::Result;
use ferrite_core::object::ObjectRef;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::value::any::Any;

use crate::structural::equal::compare::object::ObjectFrame;
use crate::structural::equal::compare::pair::{NodePair, Pair};
use crate::structural::equal::compare::sequence::SequenceFrame;
use crate::structural::equal::compare::walk::{Frame, Walk};
use crate::structural::equal::compare_leaf::compare_leaves;
use crate::walk::{NextChild, elements_of_array, prefetch_next, reserve_frame};

/// Compares two Arrays up to the first pair of elements that are not equal leaves. Returns `None`
/// if the Arrays are equal, which is the common case, otherwise the length of the prefix known to
/// be equal: 0 if the values are not Arrays, or of different sizes.
///
/// # Errors
/// InternalError for tensors whose content must be compared but cannot be read.
#[inline(always)]
pub(in crate::structural::equal::compare) fn compare_arrays(
    lhs: &Any,
    rhs: &Any,
    skip_tensor_content: bool,
) -> Result<Option<usize>> {
    let (Some(lhs), Some(rhs)) = (elements_of_array(lhs), elements_of_array(rhs)) else {
        return Ok(Some(0));
    };
    // Arrays of different sizes differ. Comparing their elements could only raise an error.
    if lhs.len() != rhs.len() {
        return Ok(Some(0));
    }
    for (equal, (lhs, rhs)) in lhs.iter().zip(rhs).enumerate() {
        prefetch_next(lhs);
        prefetch_next(rhs);
        if compare_leaves(lhs, rhs, skip_tensor_content)? != Some(true) {
            return Ok(Some(equal));
        }
    }
    Ok(None)
}

/// Descends from the topmost frame to its next child. Builds the frames of Arrays in sequences and
/// of objects in fields in place, without creating a node first.
///
/// # Errors
/// Errors of the walk.
#[inline(always)]
pub(in crate::structural::equal::compare) fn descend<'w>(
    walk: &mut Walk<'_, 'w>,
    open: &mut Buffer<Frame<'w>>,
) -> Result<NextChild<NodePair<'w>, bool>> {
    let skip_tensor_content = walk.comparer.skip_tensor_content;
    match open.last_mut() {
        Some(Frame::Sequence(frame)) => match frame.next(skip_tensor_content, &mut walk.differs)? {
            Some((pair, equal)) => enter_element(walk, pair, equal, open),
            None => Ok(NextChild::End),
        },
        Some(Frame::Object(frame)) => match frame.next(skip_tensor_content, &mut walk.differs)? {
            Some(pair) => enter_field(walk, pair, open),
            None => Ok(NextChild::End),
        },
        _ => Ok(NextChild::ByNode),
    }
}

#[inline(always)]
fn enter_element<'w>(
    walk: &Walk<'_, 'w>,
    pair: NodePair<'w>,
    equal: usize,
    open: &mut Buffer<Frame<'w>>,
) -> Result<NextChild<NodePair<'w>, bool>> {
    if pair.lhs.type_index() != type_index::ARRAY {
        return Ok(NextChild::Child(pair));
    }
    reserve_frame::<Walk<'_, 'w>>(open)?.fill(Frame::Sequence(SequenceFrame::behind(equal, pair)));
    Ok(if walk.keep_container(open) { NextChild::Open } else { NextChild::Value(false) })
}

#[inline(always)]
fn enter_field<'w>(
    walk: &mut Walk<'_, 'w>,
    pair: Pair<ObjectRef>,
    open: &mut Buffer<Frame<'w>>,
) -> Result<NextChild<NodePair<'w>, bool>> {
    if pair.lhs.type_index() < type_index::DYN_OBJECT_BEGIN {
        return Ok(NextChild::Child(pair.into_node()));
    }
    // Moved word by word: a wider load would wait for the stores of its parts.
    let Pair { lhs, rhs, region } = pair;
    match walk.enter_object(Pair { lhs: &lhs, rhs: &rhs, region })? {
        ControlFlow::Break(equal) => Ok(NextChild::Value(equal)),
        ControlFlow::Continue((kind, inner, fields)) => {
            let room = reserve_frame::<Walk<'_, 'w>>(open)?;
            let pair = Pair { lhs, rhs, region }.into_node();
            room.fill(Frame::Object(ObjectFrame::new(pair, kind, inner, fields)));
            Ok(NextChild::Open)
        }
    }
}
