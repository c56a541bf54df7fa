//! Lookup of keys along their chains, and the probe distances.

use ferrite_core::abi::type_index;
use ferrite_core::error::Result;
use ferrite_core::platform::words;
use ferrite_core::value::any::AnyView;

use super::SPEED;
use super::slots::{DISTANCE_BITS, Dense, TAIL};
use crate::containers::key;
use crate::containers::table::entry;
use crate::containers::table::layout::NO_SLOT;

/// Number of probe distances.
pub(super) const DISTANCES: usize = 126;
/// First index whose probe distance is a triangular number.
const TRIANGLES_FROM: usize = 16;
/// Number `n` of the triangular number `n * (n + 1) / 2` at index [`TRIANGLES_FROM`]. The following
/// indices have the following numbers.
const FIRST_TRIANGLE: usize = 6;
/// First index of the far probe distances, whose `n` grows by half with each index.
const FAR_FROM: usize = 83;
/// Number `n` of the triangular number at index [`FAR_FROM`], before rounding up, in fixed point
/// with 32 fractional bits.
const FIRST_FAR: u64 = 0x81_bf10_0000;

impl Dense<'_> {
    /// Returns the slot of the entry of `key`, given its hash; [`NO_SLOT`] if the key is not in the
    /// table.
    ///
    /// # Errors
    /// Errors of [`entry::entry_has_key`].
    #[inline]
    pub(crate) fn find(self, key: &AnyView<'_>, hash: u64) -> Result<usize> {
        if key::is_plain(key) {
            return Ok(self.find_plain(key, hash));
        }
        self.find_long_text(key, hash).map_or_else(|| self.find_content(key, hash), Ok)
    }

    /// Fast path of [`find`](Self::find) for plain keys.
    #[inline]
    fn find_plain(self, key: &AnyView<'_>, hash: u64) -> usize {
        self.find_where(hash, |slot| {
            // SAFETY: the slot is in use, and no user callback runs here.
            let present = unsafe { self.cells(slot).key_view() };
            key::same_words(present.as_raw(), key.as_raw())
        })
    }

    /// Fast path of [`find`](Self::find) for string objects, which most keys are. Only strings
    /// equal them, so no hook is called. Returns `None` for other keys.
    #[inline]
    fn find_long_text(self, key: &AnyView<'_>, hash: u64) -> Option<usize> {
        if !SPEED || key.type_index() != type_index::STR {
            return None;
        }
        key.content_of_object().map(|text| self.find_text(text, hash))
    }

    #[inline(never)]
    fn find_text(self, text: &[u8], hash: u64) -> usize {
        self.find_where(hash, |slot| {
            self.prefetch_next_key(slot);
            self.has_text(slot, text)
        })
    }

    /// Returns the first slot in the chain of a hash for which `test` returns `true`; [`NO_SLOT`]
    /// if there is none. `test` must not run user callbacks.
    #[inline]
    pub(crate) fn find_where(self, hash: u64, mut test: impl FnMut(usize) -> bool) -> usize {
        let mut next = self.chain_first(hash);
        while let Some(slot) = next {
            if test(slot) {
                return slot;
            }
            next = self.chain_next(slot, self.meta(slot));
        }
        NO_SLOT
    }

    /// Returns `true` if the key in a used slot is a string with the content `text`.
    #[inline]
    pub(crate) fn has_text(self, slot: usize, text: &[u8]) -> bool {
        // SAFETY: the slot is in use, and no user callback runs here.
        let key = unsafe { self.cells(slot).key_view() };
        match key.type_index() {
            type_index::STR => {
                key::prefetch_text(key);
                key.content_of_object().is_some_and(|content| words::are_same(content, text))
            }
            type_index::SMALL_STR => key.bytes_of_string() == Some(text),
            _ => false,
        }
    }

    /// General case of [`find`](Self::find), for keys compared by content or by a hook.
    #[cfg_attr(feature = "speed", inline(never))]
    fn find_content(self, key: &AnyView<'_>, hash: u64) -> Result<usize> {
        let mut next = self.chain_first(hash);
        while let Some(slot) = next {
            self.prefetch_next_key(slot);
            let (cells, is_used) = (self.cells(slot), || self.is_used(slot));
            // SAFETY: the slot is in use; a key hook that changes that makes the call fail.
            if unsafe { entry::entry_has_key(self.fields, cells, key, is_used) }? {
                return Ok(slot);
            }
            next = self.chain_next(slot, self.meta(slot));
        }
        Ok(NO_SLOT)
    }

    /// Returns the first slot in the chain of a hash; `None` if the home slot is empty or belongs
    /// to another chain.
    #[inline]
    fn chain_first(self, hash: u64) -> Option<usize> {
        if self.slots() == 0 {
            return None;
        }
        Some(self.home(hash)).filter(|home| self.is_head(*home))
    }

    /// Returns the next slot of a chain, given the metadata of `slot`; `None` at the end of the
    /// chain.
    #[inline]
    pub(super) fn chain_next(self, slot: usize, meta: u8) -> Option<usize> {
        match distance((meta & DISTANCE_BITS) as usize) {
            None | Some(0) => None,
            Some(distance) => Some(self.wrap(slot.wrapping_add(distance))),
        }
    }

    #[inline]
    pub(super) fn is_head(self, slot: usize) -> bool {
        self.meta(slot) & TAIL == 0
    }

    /// Prefetches the next key of a chain; at the end of the chain, prefetches the current key
    /// again. A branch on metadata that has not loaded yet would often be mispredicted.
    #[inline]
    pub(crate) fn prefetch_next_key(self, slot: usize) {
        if self.exceeds_cache() {
            let distance = distance((self.meta(slot) & DISTANCE_BITS).into()).unwrap_or(0);
            let next = self.wrap(slot.wrapping_add(distance));
            // SAFETY: the slots of a chain are in use, and no user callback runs here.
            key::prefetch(unsafe { self.cells(next).key_view() });
        }
    }
}

/// Returns the probe distance of a 7-bit index; `None` for indices from [`DISTANCES`] on.
///
/// Index 0 marks the end of a chain. The distances of the other indices are 1 to 15, then
/// triangular numbers, which reach every slot of a table whose size is a power of two, then ever
/// larger steps for large tables. Part of the ABI: C++ code follows chains by these distances.
///
/// # Upstream
/// `kNextProbeLocation` in `include/tvm/ffi/container/map_base.h`.
#[inline]
pub(super) fn distance(index: usize) -> Option<usize> {
    static KNOWN: [usize; DISTANCES] = {
        let mut table = [0; DISTANCES];
        let mut index = 0;
        while index < DISTANCES {
            table[index] = computed_distance(index);
            index += 1;
        }
        table
    };
    (index < DISTANCES).then(|| if SPEED { KNOWN[index] } else { computed_distance(index) })
}

/// Computes the probe distance of an index below [`DISTANCES`]. Distances beyond the address space
/// wrap around, which is harmless.
const fn computed_distance(index: usize) -> usize {
    if index < TRIANGLES_FROM {
        return index;
    }
    let side = if index < FAR_FROM {
        (index - TRIANGLES_FROM + FIRST_TRIANGLE) as u64
    } else {
        far_side(index - FAR_FROM)
    };
    (side * (side + 1) / 2) as usize
}

/// Returns the number `n` of the triangular number at a far probe distance, `steps` indices after
/// the first. The distances are close to powers of 2.25, like in the hash table that upstream took
/// its layout from.
const fn far_side(steps: usize) -> u64 {
    let (mut side, mut left) = (FIRST_FAR, steps);
    while left > 0 {
        side += side / 2;
        left -= 1;
    }
    (side >> 32) + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAR: [u64; 43] = [
        8515,
        19110,
        42778,
        96141,
        216153,
        486591,
        1092981,
        2458653,
        5532801,
        12442566,
        27993903,
        62983476,
        141717030,
        318844378,
        717352503,
        1614057336,
        3631522476,
        8170957530,
        18384510628,
        41364789378,
        93070452520,
        209408356380,
        471168559170,
        1060128894105,
        2385289465695,
        5366898840628,
        12075518705635,
        27169915244790,
        61132312065111,
        137547689707000,
        309482283181501,
        696335127828753,
        1566753995631385,
        3525196511162271,
        7931691992677701,
        17846306936293605,
        40154190677507445,
        90346928918121501,
        203280589587557251,
        457381325854679626,
        1029107982097042876,
        2315492959180353330,
        5209859154120846435,
    ];

    #[test]
    fn the_parts_meet_where_upstreams_table_has_them() {
        let distances: std::vec::Vec<_> = (0..).map_while(distance).collect();
        assert_eq!(distances[..4], [0, 1, 2, 3]);
        assert_eq!(distances[14..19], [14, 15, 21, 28, 36]);
        assert_eq!(distances[81..83], [2556, 2628]);
        assert!(distances[..83].windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!(distances[83..], FAR.map(|distance| distance as usize));
    }
}
