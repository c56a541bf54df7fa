//! Comparison frame of two Arrays or Lists.

use ferrite_core::error::Result;
use ferrite_core::value::any::Any;

use super::super::compare_leaf::compare_leaves;
use super::super::trace::Trace;
use super::pair::{NodePair, Pair};
use crate::reflection::AccessKind;
use crate::structural::DefRegion;
use crate::walk::{Elements, elements_of_array, prefetch_next, rest_of};

/// A comparison of two sequences in progress.
pub(super) struct SequenceFrame<'w> {
    lhs: Elements<'w>,
    rhs: Elements<'w>,
    region: DefRegion,
    /// Length of the shorter sequence.
    common: usize,
    next: usize,
}

/// Outcome of comparing elements up to the next pair of containers or objects.
enum Equal {
    /// All elements up to the shorter length are equal.
    All,
    /// Two leaves differ.
    ToDifference,
    /// Two elements are containers or objects. Carries the length of their equal prefix, if they
    /// are Arrays; otherwise 0.
    ToInner(usize),
}

impl<'w> SequenceFrame<'w> {
    /// Creates a frame for two sequences whose first `next` elements are already known to be equal.
    #[inline]
    pub(super) fn behind(next: usize, pair: NodePair<'w>) -> Self {
        let (lhs, rhs) = (Elements::of(pair.lhs), Elements::of(pair.rhs));
        let common = lhs.len().min(rhs.len());
        Self { lhs, rhs, region: pair.region, common, next }
    }

    pub(super) fn have_same_len(&self) -> bool {
        self.lhs.len() == self.rhs.len()
    }

    /// Returns the next pair of elements that are containers or objects, with the length of their
    /// equal prefix if they are Arrays. Returns `None` at the end, or after setting `differs`.
    #[inline(always)]
    pub(super) fn next(
        &mut self,
        skip_tensor_content: bool,
        differs: &mut bool,
    ) -> Result<Option<(NodePair<'w>, usize)>> {
        if self.next >= self.common {
            return Ok(None);
        }
        let equal = match self.skip_equal(skip_tensor_content)? {
            Equal::ToInner(equal) => equal,
            Equal::ToDifference => {
                *differs = true;
                return Ok(None);
            }
            Equal::All => return Ok(None),
        };
        let last = self.next - 1;
        let pair = Pair::of(self.lhs.get(last)?, self.rhs.get(last)?, self.region);
        Ok(pair.map(|pair| (pair, equal)))
    }

    /// Advances past the next pair of elements that are not known to be equal.
    #[inline(always)]
    fn skip_equal(&mut self, skip_tensor_content: bool) -> Result<Equal> {
        // Comparing leaves runs no user callback.
        let (left, right) = (self.lhs.as_slice()?, self.rhs.as_slice()?);
        let range = self.next..self.common;
        let (lhs, rhs) = match (left.get(range.clone()), right.get(range)) {
            (Some(lhs), Some(rhs)) => (lhs, rhs),
            _ => (rest_of(&left, self.next), rest_of(&right, self.next)),
        };
        for (lhs, rhs) in lhs.iter().zip(rhs) {
            prefetch_next(lhs);
            prefetch_next(rhs);
            self.next += 1;
            match compare_leaves(lhs, rhs, skip_tensor_content)? {
                Some(true) => {}
                Some(false) => return Ok(Equal::ToDifference),
                None => match compare_arrays(lhs, rhs, skip_tensor_content)? {
                    None => {}
                    Some(equal) => return Ok(Equal::ToInner(equal)),
                },
            }
        }
        if self.next < self.common {
            self.lhs.get(self.next)?;
            self.rhs.get(self.next)?;
        }
        Ok(Equal::All)
    }

    /// Appends the path step to the element being compared.
    pub(super) fn trace(&self, trace: &mut Trace) -> Result<()> {
        trace.push_same(AccessKind::ArrayItem, index_of(self.next.saturating_sub(1)))
    }

    /// Returns `true` if the sequences are equal, given that their elements are equal up to the
    /// shorter length. Otherwise appends the path step to the first element that only one sequence
    /// has.
    pub(super) fn finish(&self, trace: Option<&mut Trace>) -> Result<bool> {
        let (left, right) = (self.lhs.len(), self.rhs.len());
        if left == right {
            return Ok(true);
        }
        if let Some(trace) = trace {
            let there = (AccessKind::ArrayItem, index_of(left.min(right)));
            let missing = (AccessKind::ArrayItemMissing, index_of(left.min(right)));
            if left > right { trace.push(there, missing)? } else { trace.push(missing, there)? }
        }
        Ok(false)
    }
}

/// Compares two Arrays up to the first pair of elements that are not equal leaves. Returns `None`
/// if the Arrays are equal, which is the common case, otherwise the length of the prefix known to
/// be equal: 0 if the values are not Arrays, or of different sizes. Pushes no frame, which would be
/// stored and reloaded at once, and the load would wait for the store.
///
/// # Errors
/// InternalError for tensors whose content must be compared but cannot be read.
#[inline(always)]
fn compare_arrays(lhs: &Any, rhs: &Any, skip_tensor_content: bool) -> Result<Option<usize>> {
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

fn index_of(place: usize) -> Any {
    Any::from(place as i64)
}
