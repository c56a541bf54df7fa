//! Comparison frame of two Maps or Dicts.

use ferrite_core::error::Result;
use ferrite_core::value::any::Any;

use super::super::bindings::Bindings;
use super::super::compare_leaf::compare_leaves;
use super::super::trace::Trace;
use super::pair::{NodePair, Pair};
use crate::reflection::AccessKind;
use crate::structural::DefRegion;
use crate::walk::{Entries, MaybeOwned};

/// A comparison of two maps in progress.
pub(super) struct EntriesFrame<'w> {
    lhs: Entries<'w>,
    rhs: Entries<'w>,
    region: DefRegion,
    /// Left key of the entry being compared.
    key: Option<MaybeOwned<'w>>,
    /// Right key that the left key is bound to, if any.
    partner: Option<Any>,
    /// Whether the right map lacks the key.
    is_missing: bool,
}

impl<'w> EntriesFrame<'w> {
    pub(super) fn new(pair: NodePair<'w>) -> Result<Self> {
        let (lhs, rhs) = (Entries::of(pair.lhs)?, Entries::of(pair.rhs)?);
        let (key, partner) = (None, None);
        Ok(Self { lhs, rhs, region: pair.region, key, partner, is_missing: false })
    }

    pub(super) fn have_same_len(&self) -> bool {
        self.lhs.len() == self.rhs.len()
    }

    pub(super) fn next(
        &mut self,
        bindings: &Bindings,
        skip_tensor_content: bool,
        differs: &mut bool,
    ) -> Result<Option<NodePair<'w>>> {
        // Comparing leaves runs no user callback.
        self.lhs.skip_equal(&mut self.rhs, |lhs, rhs| {
            Ok(compare_leaves(lhs, rhs, skip_tensor_content)? == Some(true))
        })?;
        for entry in self.lhs.by_ref() {
            let (key, lhs) = entry?;
            let partner = bindings.to_right(&key).cloned();
            let rhs = self.rhs.find_next(partner.as_ref().unwrap_or(&key))?;
            (self.key, self.partner) = (Some(key), partner);
            let Some(rhs) = rhs else {
                (self.is_missing, *differs) = (true, true);
                break;
            };
            match compare_leaves(&lhs, &rhs, skip_tensor_content)? {
                Some(true) => {}
                Some(false) => {
                    *differs = true;
                    break;
                }
                None => return Ok(Pair::of(lhs, rhs, self.region)),
            }
        }
        Ok(None)
    }

    /// Appends the path step to the entry being compared.
    pub(super) fn trace(&self, trace: &mut Trace) -> Result<()> {
        let kind = if self.is_missing { AccessKind::MapItemMissing } else { AccessKind::MapItem };
        let key = self.key.as_deref().cloned().unwrap_or_default();
        let partner = self.partner.as_ref().unwrap_or(&key).clone();
        trace.push((AccessKind::MapItem, key), (kind, partner))
    }

    /// Returns `true` if the maps are equal, given that the right map has all entries of the left
    /// map. Otherwise appends the path step to a key that only the right map has.
    pub(super) fn finish(
        &mut self,
        bindings: &Bindings,
        trace: Option<&mut Trace>,
    ) -> Result<bool> {
        if self.have_same_len() {
            return Ok(true);
        }
        let Some(trace) = trace else { return Ok(false) };
        self.rhs.restart()?;
        for entry in self.rhs.by_ref() {
            let (key, _) = entry?;
            let partner = bindings.to_left(&key).unwrap_or(&key);
            if self.lhs.value_of(partner.view())?.is_none() {
                trace.push(
                    (AccessKind::MapItemMissing, partner.clone()),
                    (AccessKind::MapItem, Any::clone(&key)),
                )?;
                break;
            }
        }
        Ok(false)
    }
}
