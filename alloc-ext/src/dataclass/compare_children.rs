//! Cursor over the children of two compared objects, in pairs.

use ferrite_core::abi::{kTVMFFIFieldFlagBitMaskCompareOff, type_index};
use ferrite_core::error::Result;
use ferrite_core::names::type_table;
use ferrite_core::object::ObjectRef;
use ferrite_core::plain_bail;
use ferrite_core::value::any::Any;

use super::compare_leaf::compare_leaves;
use crate::walk::{Elements, Entries, Fields, MaybeOwned, prefetch_next, rest_of};

/// Cursor over the children of two objects of the same type, in pairs.
pub(super) enum Children<'w> {
    Elements { lhs: Elements<'w>, rhs: Elements<'w>, common: usize, next: usize },
    Entries { lhs: Entries<'w>, rhs: Entries<'w>, same_keys: bool },
    Fields { lhs: MaybeOwned<'w, ObjectRef>, rhs: MaybeOwned<'w, ObjectRef>, fields: Fields },
}

type Pair<'w> = (MaybeOwned<'w, ObjectRef>, MaybeOwned<'w, ObjectRef>);

impl<'w> Children<'w> {
    /// Creates a cursor at the first pair of children.
    ///
    /// # Errors
    /// Errors of key hooks; InternalError for objects of an unregistered type.
    pub(super) fn of((lhs, rhs): Pair<'w>) -> Result<Self> {
        Ok(match lhs.type_index() {
            type_index::ARRAY | type_index::LIST => {
                let (lhs, rhs) = (Elements::of(lhs), Elements::of(rhs));
                let common = lhs.len().min(rhs.len());
                Self::Elements { lhs, rhs, common, next: 0 }
            }
            type_index::MAP | type_index::DICT => {
                let (mut lhs, mut rhs) = (Entries::of(lhs)?, Entries::of(rhs)?);
                let same_keys = have_same_keys(&mut lhs, &mut rhs)?;
                lhs.restart()?;
                rhs.restart()?;
                Self::Entries { lhs, rhs, same_keys }
            }
            index => {
                let Some(entry) = type_table::type_info(index) else {
                    plain_bail!(INTERNAL_ERROR, "There is no type with index {}", index);
                };
                Self::Fields { lhs, rhs, fields: Fields::of(entry) }
            }
        })
    }

    pub(super) fn is_map(&self) -> bool {
        matches!(self, Self::Entries { .. })
    }

    /// Returns the order of two objects whose common children are all equal: sequences by length;
    /// maps as 0 if they have the same keys, else 1; other objects as 0.
    pub(super) fn order_of_len(&self) -> i32 {
        match self {
            Self::Elements { lhs, rhs, .. } => lhs.len().cmp(&rhs.len()) as i32,
            Self::Entries { same_keys, .. } => i32::from(!same_keys),
            Self::Fields { .. } => 0,
        }
    }

    /// Compares pairs of children up to and including the next pair without a leaf. Returns that
    /// pair; `None` at the end, or at the first pair that differs, whose order is written to
    /// `order`.
    ///
    /// # Errors
    /// Errors of getters and key hooks; IndexError if a hook shortened a List; TypeError for leaves
    /// without order.
    pub(super) fn next(
        &mut self,
        equality_only: bool,
        order: &mut i32,
    ) -> Result<Option<Pair<'w>>> {
        match self {
            Self::Elements { lhs, rhs, common, next } => {
                if *next >= *common
                    || !skip_equal_elements(lhs, rhs, *common, next, equality_only, order)?
                {
                    return Ok(None);
                }
                Ok(pair(lhs.get(*next - 1)?, rhs.get(*next - 1)?))
            }
            Self::Entries { same_keys: false, .. } => Ok(None),
            Self::Entries { lhs, rhs, .. } => next_entries(lhs, rhs, equality_only, order),
            Self::Fields { lhs, rhs, fields } => {
                next_fields(lhs, rhs, fields, equality_only, order)
            }
        }
    }
}

fn pair<'w>(lhs: MaybeOwned<'w>, rhs: MaybeOwned<'w>) -> Option<Pair<'w>> {
    Some((lhs.into_object()?, rhs.into_object()?))
}

/// Compares pairs of elements and advances past the next pair without a leaf. Returns `false` at
/// the end, or at the first pair that differs, whose order is written to `order`.
fn skip_equal_elements(
    lhs: &Elements<'_>,
    rhs: &Elements<'_>,
    common: usize,
    next: &mut usize,
    equality_only: bool,
    order: &mut i32,
) -> Result<bool> {
    // Comparing leaves runs no user callback.
    let borrowed = (lhs.as_slice()?, rhs.as_slice()?);
    let (left, right) = match (borrowed.0.get(*next..common), borrowed.1.get(*next..common)) {
        (Some(left), Some(right)) => (left, right),
        _ => (rest_of(&borrowed.0, *next), rest_of(&borrowed.1, *next)),
    };
    for (lhs, rhs) in left.iter().zip(right) {
        prefetch_next(lhs);
        prefetch_next(rhs);
        *next += 1;
        match compare_leaves(lhs, rhs, equality_only)? {
            Some(0) => {}
            Some(other) => {
                *order = other;
                return Ok(false);
            }
            None => return Ok(true),
        }
    }
    if *next < common {
        lhs.get(*next)?;
        rhs.get(*next)?;
    }
    Ok(false)
}

fn have_same_keys(lhs: &mut Entries<'_>, rhs: &mut Entries<'_>) -> Result<bool> {
    if lhs.len() != rhs.len() {
        return Ok(false);
    }
    loop {
        lhs.skip_equal(rhs, |_, _| Ok(true))?;
        let Some((key, _)) = lhs.next().transpose()? else { return Ok(true) };
        if rhs.value_of(key.view())?.is_none() {
            return Ok(false);
        }
    }
}

fn next_entries<'w>(
    lhs: &mut Entries<'w>,
    rhs: &mut Entries<'w>,
    equality_only: bool,
    order: &mut i32,
) -> Result<Option<Pair<'w>>> {
    // Comparing leaves runs no user callback.
    lhs.skip_equal(rhs, |lhs, rhs| Ok(compare_leaves(lhs, rhs, equality_only)? == Some(0)))?;
    for entry in lhs.by_ref() {
        let (key, value) = entry?;
        // A hook may have removed the entry.
        let Some(other) = rhs.find_next(&key)? else { continue };
        match compare_leaves(&value, &other, equality_only)? {
            Some(0) => {}
            Some(different) => {
                *order = different;
                break;
            }
            None => return Ok(pair(value, other)),
        }
    }
    Ok(None)
}

fn next_fields<'w>(
    lhs: &ObjectRef,
    rhs: &ObjectRef,
    fields: &mut Fields,
    equality_only: bool,
    order: &mut i32,
) -> Result<Option<Pair<'w>>> {
    let (mut value, mut other) = (Any::NONE, Any::NONE);
    for field in fields {
        if field.flags() & i64::from(kTVMFFIFieldFlagBitMaskCompareOff) != 0 {
            continue;
        }
        field.read(lhs, &mut value)?;
        field.read(rhs, &mut other)?;
        match compare_leaves(&value, &other, equality_only)? {
            Some(0) => {}
            Some(different) => {
                *order = different;
                break;
            }
            None => return Ok(pair(MaybeOwned::Owned(value), MaybeOwned::Owned(other))),
        }
    }
    Ok(None)
}
