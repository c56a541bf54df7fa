//! Pairs of containers and objects while they are compared: what comes next in them, and where they differ.
#![forbid(unsafe_code)]

use ferrite_core::abi::kTVMFFIFieldFlagBitMaskSEqHashIgnore;
use ferrite_core::any::Any;
use ferrite_core::error::Result;
use ferrite_core::string::String;

use super::bindings::Bindings;
use super::compare_leaf::compare_leaves;
use super::elements::{Cursor, Elements, Entries};
use super::trace::Trace;
use crate::reflection::AccessKind;
use crate::structural::{DefRegion, StructuralKind};
use crate::walk::{Field, Fields};

/// Two values to compare, and the region that they are in.
pub(super) struct Pair {
    pub lhs: Any,
    pub rhs: Any,
    pub region: DefRegion,
}

impl Pair {
    pub(super) fn new(lhs: &Any, rhs: &Any, region: DefRegion) -> Self {
        Self { lhs: lhs.clone(), rhs: rhs.clone(), region }
    }
}

/// What comes next in a frame.
pub(super) enum Step {
    /// Two values that have something inside.
    Into(Pair),
    /// Nothing: two values differ.
    Differs,
    /// Nothing: all that both sides have is equal.
    Done,
}

/// Two sequences.
pub(super) struct SequenceFrame {
    lhs: Elements,
    rhs: Elements,
    region: DefRegion,
    /// Elements that both have.
    common: usize,
    next: usize,
}

impl SequenceFrame {
    pub(super) fn new(pair: Pair) -> Result<Self> {
        let (lhs, rhs) = (Elements::of(pair.lhs)?, Elements::of(pair.rhs)?);
        let common = lhs.len().min(rhs.len());
        let next = lhs.skip_same(&rhs, 0);
        Ok(Self { lhs, rhs, region: pair.region, common, next })
    }

    pub(super) fn have_same_len(&self) -> bool {
        self.lhs.len() == self.rhs.len()
    }

    pub(super) fn is_done(&self) -> bool {
        self.next >= self.common
    }

    pub(super) fn next(&mut self, skip_tensor_content: bool) -> Result<Step> {
        loop {
            self.next = self.lhs.skip_same(&self.rhs, self.next);
            if self.is_done() {
                return Ok(Step::Done);
            }
            let index = self.next;
            self.next += 1;
            let equal = self.lhs.with(index, |lhs| {
                self.rhs.with(index, |rhs| compare_leaves(lhs, rhs, skip_tensor_content))
            })?;
            match equal {
                Some(true) => {}
                Some(false) => return Ok(Step::Differs),
                None => {
                    let (lhs, rhs) = (self.lhs.get(index)?, self.rhs.get(index)?);
                    return Ok(Step::Into(Pair { lhs, rhs, region: self.region }));
                }
            }
        }
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

/// Two maps.
pub(super) struct EntriesFrame {
    lhs: Entries,
    rhs: Entries,
    region: DefRegion,
    cursor: Cursor,
    /// The last key, and what stands for it on the right.
    keys: (Any, Any),
    /// Whether the right side lacks that key.
    is_missing: bool,
}

impl EntriesFrame {
    pub(super) fn new(pair: Pair) -> Result<Self> {
        let (lhs, rhs) = (Entries::of(pair.lhs)?, Entries::of(pair.rhs)?);
        let (cursor, keys) = (Cursor::new(&lhs), (Any::NONE, Any::NONE));
        Ok(Self { lhs, rhs, region: pair.region, cursor, keys, is_missing: false })
    }

    pub(super) fn have_same_len(&self) -> bool {
        self.lhs.len() == self.rhs.len()
    }

    pub(super) fn next(&mut self, bindings: &Bindings, skip_tensor_content: bool) -> Result<Step> {
        while let Some((key, lhs)) = self.cursor.next(&self.lhs) {
            let partner = bindings.to_right(&key);
            let rhs = self.rhs.find(partner.view())?;
            self.keys = (key, partner);
            let Some(rhs) = rhs else {
                self.is_missing = true;
                return Ok(Step::Differs);
            };
            match compare_leaves(&lhs, &rhs, skip_tensor_content)? {
                Some(true) => {}
                Some(false) => return Ok(Step::Differs),
                None => return Ok(Step::Into(Pair { lhs, rhs, region: self.region })),
            }
        }
        Ok(Step::Done)
    }

    /// Tells which key was the last one.
    pub(super) fn trace(&self, trace: &mut Trace) -> Result<()> {
        let kind = if self.is_missing { AccessKind::MapItemMissing } else { AccessKind::MapItem };
        let (lhs, rhs) = self.keys.clone();
        trace.push((AccessKind::MapItem, lhs), (kind, rhs))
    }

    /// Whether the maps are equal when the right one has all entries of the left one; tells which key is missing there.
    pub(super) fn finish(&self, bindings: &Bindings, trace: Option<&mut Trace>) -> Result<bool> {
        if self.have_same_len() {
            return Ok(true);
        }
        let Some(trace) = trace else { return Ok(false) };
        let mut cursor = Cursor::new(&self.rhs);
        while let Some((key, _)) = cursor.next(&self.rhs) {
            let partner = bindings.to_left(&key);
            if self.lhs.find(partner.view())?.is_none() {
                trace.push((AccessKind::MapItemMissing, partner), (AccessKind::MapItem, key))?;
                break;
            }
        }
        Ok(false)
    }
}

/// Two objects of one type.
pub(super) struct ObjectFrame {
    /// The objects, and the region that they are in.
    pub pair: Pair,
    pub kind: StructuralKind,
    /// The region of what is inside.
    region: DefRegion,
    fields: Fields,
    last: Option<Field>,
}

impl ObjectFrame {
    pub(super) fn new(pair: Pair, kind: StructuralKind, region: DefRegion, fields: Fields) -> Self {
        Self { pair, kind, region, fields, last: None }
    }

    pub(super) fn next(&mut self, skip_tensor_content: bool) -> Result<Step> {
        for field in &mut self.fields {
            if field.flags() & i64::from(kTVMFFIFieldFlagBitMaskSEqHashIgnore) != 0 {
                continue;
            }
            self.last = Some(field);
            let (lhs, rhs) = (field.get(&self.pair.lhs)?, field.get(&self.pair.rhs)?);
            match compare_leaves(&lhs, &rhs, skip_tensor_content)? {
                Some(true) => {}
                Some(false) => return Ok(Step::Differs),
                None => {
                    return Ok(Step::Into(Pair { lhs, rhs, region: self.region.in_field(field.flags()) }));
                }
            }
        }
        Ok(Step::Done)
    }

    /// Tells which field was the last one.
    pub(super) fn trace(&self, trace: &mut Trace) -> Result<()> {
        let name = String::from_bytes(self.last.map_or(b"", Field::name))?;
        trace.push_same(AccessKind::Attr, name.into())
    }
}
