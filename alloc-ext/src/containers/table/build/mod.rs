//! Bulk construction of Maps and Dicts from known entries: arguments of a call, owned values of a document, or values for
//! the keys of another Map.
//!
//! `fast.rs` and `small.rs` are the two implementations of
//!
//! - `of_pairs(type_index, pairs)`, which builds a table in its final size. It returns None if inserting the entries one by
//!   one is as fast, or could give another layout.
//! - `insert_text(object, key, value)`, which sets the value of a string key from an untrusted document, and may limit
//!   collisions.

use core::mem;

use ferrite_core::any::{Any, AnyView};
use ferrite_core::error::Result;
use ferrite_core::memory::Buffer;
use ferrite_core::object::ObjectRef;
use ferrite_core::object_alloc::{Apart, Space};
use ferrite_core::type_index;

use super::insert::insert;
use super::record;
use crate::containers::cell;

#[cfg_attr(feature = "speed", path = "fast.rs")]
#[cfg_attr(not(feature = "speed"), path = "small.rs")]
mod selected;

mod same_keys;

pub(crate) use same_keys::with_keys_of;

/// Builds a Map or Dict, chosen by type index, with the same result as repeated insertion of the entries.
///
/// # Errors
/// Errors of key hooks; MemoryError; errors of [`AnyView::to_owned`].
#[inline]
pub(crate) fn of_pairs(type_index: i32, pairs: &[[AnyView<'_>; 2]]) -> Result<ObjectRef> {
    if let Some(object) = selected::of_pairs(type_index, pairs)? {
        return Ok(object);
    }
    // It grows as upstream's does: a key may be repeated.
    let object = record::allocate_small(type_index, 0, &mut Apart)?;
    for [key, value] in pairs {
        // SAFETY: the object is a Map or Dict without other references.
        unsafe { insert(&object, cell::own(key)?, cell::own(value)?) }?;
    }
    Ok(object)
}

/// Builds a Map from the alternating string keys and values in `values` at index `first` and above, which move to the map.
/// The last value of a repeated key wins.
///
/// # Errors
/// ValueError on hosts if too many keys collide; MemoryError. On failure each entry is released or stays in `values`.
pub(crate) fn of_tail(values: &mut Buffer<Any>, first: usize, space: &mut impl Space) -> Result<ObjectRef> {
    let (entries, _) = values.get_mut(first..).unwrap_or_default().as_chunks_mut::<2>();
    let map = record::allocate_for(type_index::MAP, entries.len(), space)?;
    for [key, value] in entries {
        // SAFETY: the object is a Map without other references.
        unsafe { selected::insert_text(&map, mem::take(key), mem::take(value)) }?;
    }
    values.forget_from(first);
    Ok(map)
}
