//! Lookup of long texts, which most keys are: only texts equal them, so no hook takes part.

use ferrite_core::any::AnyView;
use ferrite_core::error::{Error, Result};
use ferrite_core::{plain_error, type_index, words};

use crate::containers::map_base::NO_SLOT;
use crate::containers::map_dense::Dense;
use crate::containers::{cell, key};

/// Keys of one document's object that may have one home. The hash is part of the ABI and has no secret, so whoever writes a
/// document can make all keys collide. Without a limit that takes quadratic time; honest keys stay far below it: of all numbers of
/// eight digits, 625 have one hash.
pub(in super::super) const MOST_IN_CHAIN: usize = 1024;

impl Dense<'_> {
    /// The place of the entry of a key that is a text, or [`NO_SLOT`]; fails where the key would make its chain too long.
    ///
    /// # Errors
    /// ValueError.
    #[inline]
    pub(in super::super) fn find_in_document(self, key: &AnyView<'_>, hash: u64) -> Result<usize> {
        let (text, mut steps) = (key.bytes_of_string().unwrap_or_default(), 0);
        let place = self.find_where(hash, |slot| {
            steps += 1;
            self.prefetch_next(slot);
            // SAFETY: the slot is in use, and no foreign code runs here.
            let known = unsafe { cell::borrow(self.cells(slot).key()) };
            cell::same_words(known.as_raw(), key.as_raw()) || is_text(known, text)
        });
        if place == NO_SLOT && steps >= MOST_IN_CHAIN { Err(too_many_collide()) } else { Ok(place) }
    }
}

#[cold]
fn too_many_collide() -> Error {
    plain_error!(VALUE_ERROR, "More than {} keys of an object have hashes that collide", MOST_IN_CHAIN)
}

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
