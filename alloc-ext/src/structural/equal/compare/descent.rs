//! Descent from an object to objects in its fields without a node between: the frame is written where it stays and need
//! not be moved.
#![forbid(unsafe_code)]

use core::ops::ControlFlow;

use ferrite_core::error::Result;
use ferrite_core::memory::Buffer;
use ferrite_core::type_index;

use super::super::compare_frame::{HeldPair, ObjectFrame, Pair};
use super::{Frame, Walk};
use crate::walk::{Descent, room_for_frame};

/// Goes down from the last frame, if that is one of objects.
///
/// # Errors
/// Those of the walk.
#[inline(always)]
pub(super) fn descend<'w>(
    walk: &mut Walk<'_, 'w>,
    open: &mut Buffer<Frame<'w>>,
) -> Result<Descent<HeldPair<'w>, bool>> {
    let Some(Frame::Object(frame)) = open.last_mut() else { return Ok(Descent::ByNode) };
    let Some(pair) = frame.next(walk.comparer.skip_tensor_content, &mut walk.differs)? else {
        return Ok(Descent::End);
    };
    if pair.lhs.type_index() < type_index::DYN_OBJECT_BEGIN {
        return Ok(Descent::Child(pair.into_held()));
    }
    // Word by word: who reads more at once waits for those that were written a moment ago.
    let Pair { lhs, rhs, region } = pair;
    match walk.meet(Pair { lhs: &lhs, rhs: &rhs, region })? {
        ControlFlow::Break(equal) => Ok(Descent::Value(equal)),
        ControlFlow::Continue((kind, inner, fields)) => {
            let room = room_for_frame::<Walk<'_, 'w>>(open)?;
            let pair = Pair { lhs, rhs, region }.into_held();
            room.fill(Frame::Object(ObjectFrame::new(pair, kind, inner, fields)));
            Ok(Descent::Open)
        }
    }
}
