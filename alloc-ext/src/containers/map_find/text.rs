//! Lookup of long texts, which most keys are: only texts equal them, so no hook takes part.

use ferrite_core::any::AnyView;
use ferrite_core::{type_index, words};

use crate::containers::map_dense::Dense;
use crate::containers::{cell, key};

/// The place of the entry of a key, or that there is none; None for a key of another type.
#[inline]
pub(super) fn find(table: Dense<'_>, key: &AnyView<'_>, hash: u64) -> Option<usize> {
    if key.type_index() != type_index::STR {
        return None;
    }
    key.content_of_object().map(|text| find_text(table, text, hash))
}

#[inline(never)]
fn find_text(table: Dense<'_>, text: &[u8], hash: u64) -> usize {
    table.find_where(hash, |slot| {
        table.prefetch_next(slot);
        // SAFETY: the slot is in use, and no foreign code runs here.
        is_text(unsafe { cell::borrow(table.cells(slot).key()) }, text)
    })
}

#[inline]
fn is_text(key: &AnyView<'_>, text: &[u8]) -> bool {
    match key.type_index() {
        type_index::STR => {
            key::prefetch_text(key);
            key.content_of_object().is_some_and(|content| words::are_same(content, text))
        }
        type_index::SMALL_STR => key.bytes_of_string() == Some(text),
        _ => false,
    }
}
