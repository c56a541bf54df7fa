//! Arrays and Lists while they are compared.

use ferrite_core::any::Any;
use ferrite_core::error::Result;

use super::super::compare_leaf::compare_leaves;
use super::super::trace::Trace;
use super::pair::{HeldPair, Pair};
use super::short_ways;
use crate::reflection::AccessKind;
use crate::structural::DefRegion;
use crate::walk::{Elements, prefetch_next, rest_of};

/// Two sequences.
pub(super) struct SequenceFrame<'w> {
    lhs: Elements<'w>,
    rhs: Elements<'w>,
    region: DefRegion,
    /// Elements that both have.
    common: usize,
    next: usize,
}

/// How far the elements of two sequences are equal.
enum Equal {
    /// As far as both have some.
    All,
    /// Up to two that differ.
    ToDifference,
    /// Up to two that have something inside, of whose first elements so many are equal.
    ToInner(usize),
}

impl<'w> SequenceFrame<'w> {
    /// Two sequences whose first `next` elements are equal.
    #[inline]
    pub(super) fn behind(next: usize, pair: HeldPair<'w>) -> Self {
        let (lhs, rhs) = (Elements::of(pair.lhs), Elements::of(pair.rhs));
        let common = lhs.len().min(rhs.len());
        Self { lhs, rhs, region: pair.region, common, next }
    }

    pub(super) fn have_same_len(&self) -> bool {
        self.lhs.len() == self.rhs.len()
    }

    /// The next two elements that have something inside, and how many of the first elements in there are known to be equal.
    /// After the last ones all that both sequences have is equal, unless `differs` was set.
    #[cfg_attr(feature = "speed", inline(always))]
    pub(super) fn next(
        &mut self,
        skip_tensor_content: bool,
        differs: &mut bool,
    ) -> Result<Option<(HeldPair<'w>, usize)>> {
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

    /// Goes on behind the first elements that are not known to be equal, and gives what is known of them.
    #[cfg_attr(feature = "speed", inline(always))]
    fn skip_equal(&mut self, skip_tensor_content: bool) -> Result<Equal> {
        // SAFETY: comparing values that have nothing inside runs no code of users.
        let (lhs, rhs) = unsafe { (self.lhs.as_slice(), self.rhs.as_slice()) };
        let range = self.next..self.common;
        let (lhs, rhs) = match (lhs.get(range.clone()), rhs.get(range)) {
            (Some(lhs), Some(rhs)) => (lhs, rhs),
            _ => (rest_of(lhs, self.next), rest_of(rhs, self.next)),
        };
        for (lhs, rhs) in lhs.iter().zip(rhs) {
            prefetch_next(lhs);
            prefetch_next(rhs);
            self.next += 1;
            match compare_leaves(lhs, rhs, skip_tensor_content)? {
                Some(true) => {}
                Some(false) => return Ok(Equal::ToDifference),
                None => match short_ways::compare_arrays(lhs, rhs, skip_tensor_content)? {
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

    /// Tells which element was the last one.
    pub(super) fn trace(&self, trace: &mut Trace) -> Result<()> {
        trace.push_same(AccessKind::ArrayItem, index_of(self.next.saturating_sub(1)))
    }

    /// Whether the sequences are equal when all that both have is; tells which element only one of them has.
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

fn index_of(place: usize) -> Any {
    Any::from(place as i64)
}
