//! Common prefixes of neighbours in a batch. Kernels read the pages of such prefix once for all
//! rows of its group, and the other pages of each sequence in a second table.

use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;

use super::batch::{Group, Member};
use crate::builtins::paged_kv_cache::sequences::Sequences;

/// Smallest ratio of the pages that decode kernels read without and with groups. Below it, one
/// decode kernel is faster than a prefill kernel, a decode kernel and a merge. It is that of TVM's
/// runtime.
const DECODE_RATIO: usize = 32;

/// Finds the groups of a batch, and sets the prefix of each member.
///
/// # Errors
/// MemoryError.
pub(super) fn find(
    groups: &mut Buffer<Group>,
    batch: &mut Buffer<Member>,
    sequences: &Sequences,
    is_decode: bool,
) -> Result<()> {
    let pages = |at: usize| sequences.at(batch[at].entry as usize).pages.as_slice();
    let mut first = 0;
    while first < batch.len() {
        let (prefix, mut count) = (pages(first), 1);
        let mut shared = shared_pages(prefix, sequences);
        while shared != 0 && first + count < batch.len() {
            let next = common_pages(&prefix[..shared], pages(first + count));
            // The pages that are not read again: a shorter prefix has to be worth the member.
            if count * next < (count - 1) * shared || next == 0 {
                break;
            }
            (shared, count) = (next, count + 1);
        }
        if count > 1 {
            let pages = shared as u32;
            groups.try_push(Group { first: first as u32, count: count as u32, pages })?;
        }
        first += count;
    }
    if is_decode && !is_worthwhile(groups) {
        groups.clear();
    }
    for group in groups.iter() {
        for at in group.first..group.first + group.count {
            batch.as_mut_slice()[at as usize].prefix = group.pages;
        }
    }
    Ok(())
}

/// Returns the number of first pages that other sequences have, too.
fn shared_pages(pages: &[i32], sequences: &Sequences) -> usize {
    pages.iter().take_while(|page| sequences.pool.is_shared(**page)).count()
}

fn common_pages(one: &[i32], other: &[i32]) -> usize {
    one.iter().zip(other).take_while(|(one, other)| one == other).count()
}

fn is_worthwhile(groups: &[Group]) -> bool {
    let with: usize = groups.iter().map(|group| group.pages as usize).sum();
    let without: usize = groups.iter().map(|group| (group.pages * group.count) as usize).sum();
    with != 0 && without >= DECODE_RATIO * with
}
