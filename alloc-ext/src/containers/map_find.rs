//! Lookup of a key in a dense table.

#[cfg_attr(feature = "std", path = "map_find/text.rs")]
#[cfg_attr(not(feature = "std"), path = "map_find/none.rs")]
mod text;
#[cfg(all(test, feature = "std"))]
pub(super) use text::MOST_IN_CHAIN;

use ferrite_core::any::AnyView;
use ferrite_core::error::Result;

use super::map_base::NO_SLOT;
use super::map_dense::Dense;
use super::{cell, key, map_entry};

impl Dense<'_> {
    /// Place of the entry of `key`, whose hash is `hash`; [`NO_SLOT`] when there is none.
    ///
    /// # Errors
    /// As [`map_entry::entry_has_key`].
    #[inline]
    pub(super) fn find(self, key: &AnyView<'_>, hash: u64) -> Result<usize> {
        if key::is_its_words(key) {
            return Ok(self.find_words(key, hash));
        }
        text::find(self, key, hash).map_or_else(|| self.find_content(key, hash), Ok)
    }

    /// As [`find`](Self::find), for a key that equals only the same words.
    #[inline]
    fn find_words(self, key: &AnyView<'_>, hash: u64) -> usize {
        // SAFETY: the slot is in use, and no foreign code runs here.
        self.find_where(hash, |slot| cell::same_words(unsafe { &*self.cells(slot).key() }, key.as_raw()))
    }

    /// The first slot in the chain of a hash for which a test, which runs no foreign code, says so; else [`NO_SLOT`].
    #[inline]
    fn find_where(self, hash: u64, mut test: impl FnMut(usize) -> bool) -> usize {
        let mut next = self.chain_first(hash);
        while let Some(slot) = next {
            if test(slot) {
                return slot;
            }
            next = self.chain_next(slot, self.meta(slot));
        }
        NO_SLOT
    }

    /// As [`find`](Self::find), for a key whose content counts.
    #[cfg_attr(feature = "std", inline(never))]
    fn find_content(self, key: &AnyView<'_>, hash: u64) -> Result<usize> {
        let mut next = self.chain_first(hash);
        while let Some(slot) = next {
            self.prefetch_next(slot);
            let (entry, is_used) = (self.cells(slot), || self.is_used(slot));
            // SAFETY: the slot is in use; should a key hook change that, the call notices and fails.
            if unsafe { map_entry::entry_has_key(self.fields, entry, key, is_used) }? {
                return Ok(slot);
            }
            next = self.chain_next(slot, self.meta(slot));
        }
        Ok(NO_SLOT)
    }
}
