//! Pairs of containers and objects while they are compared: what comes next in them, and where they differ.

use ferrite_core::abi::kTVMFFIFieldFlagBitMaskSEqHashIgnore;
use ferrite_core::any::Any;
use ferrite_core::error::Result;
use ferrite_core::object::ObjectRef;
use ferrite_core::string::String;

use super::bindings::Bindings;
use super::compare_leaf::compare_leaves;
use super::trace::Trace;
use crate::reflection::AccessKind;
use crate::structural::{DefRegion, StructuralKind};
use crate::walk::{Elements, Entries, Field, Fields, Held, look_ahead, rest_of};

/// Two objects of one type to compare, and the region that they are in.
#[derive(Clone, Copy)]
pub(super) struct Pair<T> {
    pub lhs: T,
    pub rhs: T,
    pub region: DefRegion,
}

/// Two objects that the walk has got to.
pub(super) type HeldPair<'w> = Pair<Held<'w, ObjectRef>>;

impl<'w> HeldPair<'w> {
    /// Two values of one type that are no leaves, and so objects.
    #[cfg_attr(feature = "std", inline(always))]
    fn of(lhs: Held<'w>, rhs: Held<'w>, region: DefRegion) -> Option<Self> {
        Some(Self { lhs: lhs.into_object()?, rhs: rhs.into_object()?, region })
    }

    /// The same objects, lent.
    #[inline]
    pub(super) fn lent(&self) -> Pair<&ObjectRef> {
        Pair { lhs: &self.lhs, rhs: &self.rhs, region: self.region }
    }
}

impl Pair<ObjectRef> {
    /// The same objects, held by the walk.
    #[inline(always)]
    pub(super) fn into_held<'w>(self) -> HeldPair<'w> {
        Pair { lhs: Held::Own(self.lhs), rhs: Held::Own(self.rhs), region: self.region }
    }
}

/// What comes next in a frame: two values that have something inside, or nothing. Then all that both sides have is equal,
/// unless `differs` was set.
type Next<'w> = Result<Option<HeldPair<'w>>>;

/// Two sequences.
pub(super) struct SequenceFrame<'w> {
    lhs: Elements<'w>,
    rhs: Elements<'w>,
    region: DefRegion,
    /// Elements that both have.
    common: usize,
    next: usize,
}

impl<'w> SequenceFrame<'w> {
    pub(super) fn new(pair: HeldPair<'w>) -> Self {
        let (lhs, rhs) = (Elements::of(pair.lhs), Elements::of(pair.rhs));
        let common = lhs.len().min(rhs.len());
        Self { lhs, rhs, region: pair.region, common, next: 0 }
    }

    pub(super) fn have_same_len(&self) -> bool {
        self.lhs.len() == self.rhs.len()
    }

    pub(super) fn next(&mut self, skip_tensor_content: bool, differs: &mut bool) -> Next<'w> {
        if self.next >= self.common {
            return Ok(None);
        }
        if let Some(equal) = self.skip_equal(skip_tensor_content)? {
            *differs = !equal;
            return Ok(None);
        }
        let last = self.next - 1;
        Ok(Pair::of(self.lhs.get(last)?, self.rhs.get(last)?, self.region))
    }

    /// Goes on behind the first elements that are not known to be equal, and gives what is known of them.
    fn skip_equal(&mut self, skip_tensor_content: bool) -> Result<Option<bool>> {
        // SAFETY: comparing values that have nothing inside runs no code of users.
        let (lhs, rhs) = unsafe { (self.lhs.as_slice(), self.rhs.as_slice()) };
        let range = self.next..self.common;
        let (lhs, rhs) = match (lhs.get(range.clone()), rhs.get(range)) {
            (Some(lhs), Some(rhs)) => (lhs, rhs),
            _ => (rest_of(lhs, self.next), rest_of(rhs, self.next)),
        };
        for (lhs, rhs) in lhs.iter().zip(rhs) {
            look_ahead(lhs);
            look_ahead(rhs);
            self.next += 1;
            let equal = compare_leaves(lhs, rhs, skip_tensor_content)?;
            if equal != Some(true) {
                return Ok(equal);
            }
        }
        if self.next < self.common {
            self.lhs.get(self.next)?;
            self.rhs.get(self.next)?;
        }
        Ok(Some(true))
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
pub(super) struct EntriesFrame<'w> {
    lhs: Entries<'w>,
    rhs: Entries<'w>,
    region: DefRegion,
    /// The last key, and what stands for it on the right if that is something else.
    key: Option<Held<'w>>,
    partner: Option<Any>,
    /// Whether the right side lacks that key.
    is_missing: bool,
}

impl<'w> EntriesFrame<'w> {
    pub(super) fn new(pair: HeldPair<'w>) -> Self {
        let (lhs, rhs) = (Entries::of(pair.lhs), Entries::of(pair.rhs));
        let (key, partner) = (None, None);
        Self { lhs, rhs, region: pair.region, key, partner, is_missing: false }
    }

    pub(super) fn have_same_len(&self) -> bool {
        self.lhs.len() == self.rhs.len()
    }

    pub(super) fn next(
        &mut self,
        bindings: &Bindings,
        skip_tensor_content: bool,
        differs: &mut bool,
    ) -> Next<'w> {
        // SAFETY: comparing values that have nothing inside runs no code of users.
        unsafe {
            self.lhs.skip_equal(&mut self.rhs, |lhs, rhs| {
                Ok(compare_leaves(lhs, rhs, skip_tensor_content)? == Some(true))
            })?
        };
        for (key, lhs) in self.lhs.by_ref() {
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

    /// Tells which key was the last one.
    pub(super) fn trace(&self, trace: &mut Trace) -> Result<()> {
        let kind = if self.is_missing { AccessKind::MapItemMissing } else { AccessKind::MapItem };
        let key = self.key.as_deref().cloned().unwrap_or_default();
        let partner = self.partner.as_ref().unwrap_or(&key).clone();
        trace.push((AccessKind::MapItem, key), (kind, partner))
    }

    /// Whether the maps are equal when the right one has all entries of the left one; tells which key is missing there.
    pub(super) fn finish(&mut self, bindings: &Bindings, trace: Option<&mut Trace>) -> Result<bool> {
        if self.have_same_len() {
            return Ok(true);
        }
        let Some(trace) = trace else { return Ok(false) };
        self.rhs.restart();
        for (key, _) in self.rhs.by_ref() {
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

/// Two objects of one type.
pub(super) struct ObjectFrame<'w> {
    /// The objects, and the region that they are in.
    pub pair: HeldPair<'w>,
    pub kind: StructuralKind,
    /// The region of what is inside.
    region: DefRegion,
    fields: Fields,
    last: Option<Field>,
}

impl<'w> ObjectFrame<'w> {
    #[inline(always)]
    pub(super) fn new(pair: HeldPair<'w>, kind: StructuralKind, region: DefRegion, fields: Fields) -> Self {
        Self { pair, kind, region, fields, last: None }
    }

    #[inline(always)]
    pub(super) fn next(
        &mut self,
        skip_tensor_content: bool,
        differs: &mut bool,
    ) -> Result<Option<Pair<ObjectRef>>> {
        let Pair { lhs: left, rhs: right, .. } = self.pair.lent();
        for field in &mut self.fields {
            if field.flags() & i64::from(kTVMFFIFieldFlagBitMaskSEqHashIgnore) != 0 {
                continue;
            }
            self.last = Some(field);
            // New places each time, so that it is known where numbers lie that need not be dropped.
            let mut lhs = Any::NONE;
            field.read(left, &mut lhs)?;
            let mut rhs = Any::NONE;
            field.read(right, &mut rhs)?;
            match compare_leaves(&lhs, &rhs, skip_tensor_content)? {
                Some(true) => {}
                Some(false) => {
                    *differs = true;
                    break;
                }
                None => {
                    let region = self.region.in_field(field.flags());
                    let Ok(lhs) = lhs.into_object() else { break };
                    let Ok(rhs) = rhs.into_object() else { break };
                    return Ok(Some(Pair { lhs, rhs, region }));
                }
            }
        }
        Ok(None)
    }

    /// Tells which field was the last one.
    pub(super) fn trace(&self, trace: &mut Trace) -> Result<()> {
        let name = String::from_bytes(self.last.map_or(b"", Field::name))?;
        trace.push_same(AccessKind::Attr, name.into())
    }
}
