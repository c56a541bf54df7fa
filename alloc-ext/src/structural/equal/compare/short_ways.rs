//! Ways past nodes and frames: what passes through them has to be written and read again, and that is waited for.
#![forbid(unsafe_code)]

use core::ops::ControlFlow;

use ferrite_core::any::Any;
use ferrite_core::error::Result;
use ferrite_core::memory::Buffer;
use ferrite_core::object::ObjectRef;
use ferrite_core::type_index;

use super::super::compare_leaf::compare_leaves;
use super::object::ObjectFrame;
use super::pair::{HeldPair, Pair};
use super::sequence::SequenceFrame;
use super::walk::{Frame, Walk};
use crate::walk::{NextChild, elements_of_array, prefetch_next, reserve_frame};

/// Compares the first elements of two Arrays of one size that have nothing inside: most Arrays have no others, and need not be
/// open. None when the Arrays are equal; otherwise how many of their first elements are known to be, 0 for all other values.
///
/// # Errors
/// Those of tensors.
#[inline(always)]
pub(super) fn compare_arrays(lhs: &Any, rhs: &Any, skip_tensor_content: bool) -> Result<Option<usize>> {
    let (Some(lhs), Some(rhs)) = (elements_of_array(lhs), elements_of_array(rhs)) else { return Ok(Some(0)) };
    // These differ, and nothing in them needs a look, which might be an error.
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

/// Goes down from the last frame to Arrays in sequences and to objects in fields without a node between: the frame is
/// written where it stays and need not be moved.
///
/// # Errors
/// Those of the walk.
#[inline(always)]
pub(super) fn descend<'w>(
    walk: &mut Walk<'_, 'w>,
    open: &mut Buffer<Frame<'w>>,
) -> Result<NextChild<HeldPair<'w>, bool>> {
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
    pair: HeldPair<'w>,
    equal: usize,
    open: &mut Buffer<Frame<'w>>,
) -> Result<NextChild<HeldPair<'w>, bool>> {
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
) -> Result<NextChild<HeldPair<'w>, bool>> {
    if pair.lhs.type_index() < type_index::DYN_OBJECT_BEGIN {
        return Ok(NextChild::Child(pair.into_held()));
    }
    // Word by word: who reads more at once waits for those that were written a moment ago.
    let Pair { lhs, rhs, region } = pair;
    match walk.meet(Pair { lhs: &lhs, rhs: &rhs, region })? {
        ControlFlow::Break(equal) => Ok(NextChild::Value(equal)),
        ControlFlow::Continue((kind, inner, fields)) => {
            let room = reserve_frame::<Walk<'_, 'w>>(open)?;
            let pair = Pair { lhs, rhs, region }.into_held();
            room.fill(Frame::Object(ObjectFrame::new(pair, kind, inner, fields)));
            Ok(NextChild::Open)
        }
    }
}
