//! Distances in a table, where speed counts.
#![forbid(unsafe_code)]

use super::{JUMPS, computed};

static DISTANCES: [usize; JUMPS] = {
    let mut table = [0; JUMPS];
    let mut index = 0;
    while index < JUMPS {
        table[index] = computed(index);
        index += 1;
    }
    table
};

/// The distance of an index below [`JUMPS`].
#[inline]
pub(super) fn distance(index: usize) -> usize {
    DISTANCES[index]
}
